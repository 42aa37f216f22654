// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/study.hpp"
#include "probes.hpp"

/// Claim C17: the experiment of the published version.
namespace dpsosp::lowy_2024_exhibit {

struct PublishedSetting {
  std::string_view variant;  ///< printed or repaired
  bool tuned;
};

const std::vector<double>& published_epsilons(const Study& study);
std::vector<Job> published_jobs(const Study& study);
/// \param stage  dp_sgd, dp_spider or warm_start; \param door  empty: enforced, or the script's
lowy_2024_probe::PublishedExperiment::Result published_cell(const Runs& runs, const Study& study,
                                                            PublishedSetting setting,
                                                            std::string_view stage, double epsilon,
                                                            std::string_view door = "");
plots::Exhibit published_exhibit(const Runs& runs, const Study& study);

}  // namespace dpsosp::lowy_2024_exhibit
