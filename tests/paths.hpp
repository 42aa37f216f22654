// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dpsosp {

/// Path of a file or folder of this checkout, such as "docs"; without a name, of the checkout.
std::string in_checkout(const std::string& name = "");

/// Path of a program of this build, such as "dpsosp".
std::string built_program(const std::string& name);

}  // namespace dpsosp
