// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dpsosp {

/// experiments/claims.toml.
std::string_view claims_text();

}  // namespace dpsosp
