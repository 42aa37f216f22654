// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "dpsosp/claims/reproduction.hpp"
#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/report/model.hpp"
#include "dpsosp/report/site.hpp"

namespace dpsosp::report {

/// All pages of what was reproduced: its exhibits, every claim whose runs are among them, every
/// algorithm and problem, the league where its boards were played, and what is missing.
Site site_of(const Reproduced& reproduced, const Collection& collection);

/// Writes them below OUT/report. \return the first page
std::filesystem::path write_report(const Reproduced& reproduced,
                                   const Collection& collection,
                                   const WriteOptions& options = {});

}  // namespace dpsosp::report
