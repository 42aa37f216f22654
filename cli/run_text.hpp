// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/experiments/run.hpp"

namespace dpsosp {

// What the commands print for people; --json prints more.
std::string text_of(const RunResult& result, const RunDescription& description);
std::string text_of(const Release& release, const RunDescription& description);
std::string text_of(const Certificate& certificate);

}  // namespace dpsosp
