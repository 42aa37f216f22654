// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/reproductions/reproductions.hpp"

/// Probes and verdicts outside a report.
namespace dpsosp {

inline Study study_at(Scale scale) { return {reproductions().catalogue, scale}; }

/// The result of a probe, computed here.
inline nlohmann::json compute_probe(std::string_view name, nlohmann::json parameters,
                                    std::uint64_t seed = 0) {
  const Catalogue& catalogue = reproductions().catalogue;
  return catalogue.compute(study_at(Scale::quick).probe(name, std::move(parameters), seed));
}

/// The verdict on jobs whose results `result` makes.
inline Finding finding_of(std::string_view claim, Scale scale,
                          const std::function<nlohmann::json(const nlohmann::json& job)>& result) {
  const auto& predicates = reproductions().claims.predicates;
  const auto entry = std::ranges::find(predicates, claim, &Predicate::claim);
  if (entry == predicates.end()) {
    ADD_FAILURE() << claim << " has no code";
    return {};
  }
  std::vector<StoredRun> stored;
  for (const Job& job : jobs_of(*entry, study_at(scale)))
    stored.push_back({.key = job.key(), .reason = "", .result = result(job.description())});
  return judge(*entry, Runs(stored), study_at(scale));
}

/// The verdict on jobs that are computed here.
inline Finding finding_of(std::string_view claim, Scale scale) {
  return finding_of(claim, scale, [](const nlohmann::json& job) {
    return reproductions().catalogue.compute(Job(job));
  });
}

/// The verdict of formulas alone.
inline Finding finding_by_formulas(std::string_view claim) {
  return finding_of(claim, Scale::quick, [&](const nlohmann::json&) -> nlohmann::json {
    ADD_FAILURE() << claim << " needs a run";
    return nullptr;
  });
}

}  // namespace dpsosp
