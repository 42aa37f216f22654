// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/experiments/run.hpp"
#include "own_data.hpp"

namespace dpsosp {

/// "privacy      ..." with further lines below the first.
std::string paragraph(std::string_view label, const std::string& text);

// What the commands print for people; --json prints more.
std::string text_of(const RunResult& result, const RunDescription& description,
                    const std::optional<OwnData>& own);
std::string text_of(const Release& release, const RunDescription& description,
                    const std::optional<OwnData>& own);
std::string text_of(const Certificate& certificate, const std::optional<OwnData>& own);

}  // namespace dpsosp
