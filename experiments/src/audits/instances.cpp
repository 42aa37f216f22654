// SPDX-License-Identifier: Apache-2.0
#include "instances.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::audit {
namespace {

using Settings = std::map<std::string, std::string>;

constexpr Index replay_records = 80;
constexpr std::array<const char*, 8> problems_of_every_kind{"matrix-sensing",
                                                            "cosine-minimax",
                                                            "group-dro",
                                                            "cosine-saddle",
                                                            "double-well",
                                                            "phase-retrieval",
                                                            "glm-logistic",
                                                            "ripple-location"};

/// Matrix sensing: 4 × 3, rank 2; the other families: d = 6, or 2 where points are listed.
Problem small_problem(const std::string& name, Index records, std::uint64_t data_seed) {
  const auto family = find_problem(name);
  Fields fields = family->fields();
  InstanceSpec spec{.records = records, .dimension = {}, .seed = 3, .data_seed = data_seed};
  if (name == "matrix-sensing") {
    set_field(fields, name, "rows", "4");
    set_field(fields, name, "cols", "3");
    set_field(fields, name, "rank", "2");
  } else if (name == "cosine-minimax") {
    set_field(fields, name, "coupled", "3");
    set_field(fields, name, "free", "3");
  } else {
    spec.dimension = name == "ripple-location" ? 2 : 6;
  }
  Problem problem = family->make(spec);
  if (name == "cosine-minimax")  // off the saddle, where nothing would move without noise
    Stream({.seed = 4, .purpose = Purpose::test}).fill_normal(0.5, problem.facts.initial_point);
  return problem;
}

void set(Algorithm& algorithm, const Settings& settings) {
  Fields fields = algorithm.fields();
  const auto known = values_of(fields);
  for (const auto& [name, text] : settings)
    if (known.contains(name)) set_field(fields, algorithm.card().key, name, text);
}

bool runs_on(const Algorithm& algorithm, const PublicFacts& facts) {
  try {
    algorithm.check(facts);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Refreshes, escapes and selections within 60 steps. Without `sampling` the schedule's own.
void set_for_replay(Algorithm& algorithm, const PublicFacts& facts, const std::string& sampling) {
  Settings wanted{{"steps", "60"},
                  {"alpha", "0.5"},
                  {"escape_threshold", "0.5"},
                  {"escape_steps", "5"},
                  {"chi", "0.05"},
                  {"escape_radius", "0.05"},
                  {"batch", "20"},
                  {"refresh_batch", "40"},
                  {"increment_batch", "20"},
                  {"kick_deviation", "0.1"},
                  {"refresh_cap", "0"},
                  {"drift_threshold", "0.01"}};
  if (!sampling.empty()) wanted["sampling"] = sampling;
  set(algorithm, wanted);
  if (sampling.empty() && !runs_on(algorithm, facts))
    set(algorithm,
        {{"refresh_batch", "7"},
         {"increment_batch", "2"},
         {"batch_rate", "1"},
         {"hessian_batch", "4"},
         {"hessian_batch_rate", "1"}});
  if (algorithm.card().key == "arora-2023/tree-spider") set(algorithm, {{"alpha", "0"}});
}

}  // namespace

std::vector<Subject> replay_subjects(std::string_view key) {
  std::vector<Subject> subjects;
  const bool samples = values_of(find_algorithm(key)->fields()).contains("sampling");
  for (const char* problem : problems_of_every_kind)
    for (const Variant variant : {Variant::repaired, Variant::printed})
      for (const char* sampling : {"", "sample", "poisson"}) {
        if (*sampling != '\0' && !samples) continue;
        Subject s;
        s.algorithm = find_algorithm(key);
        const AlgorithmCard& card = s.algorithm->card();
        if (variant == Variant::printed &&
            (card.printed.empty() || card.printed_privacy != PrivacyLabel::enforced))
          continue;
        try {
          s.problem = small_problem(problem, replay_records, 1);
          const PublicFacts& facts = s.problem.facts;
          s.algorithm->set_variant(variant);
          s.rule =
              s.algorithm->schedule(Schedule::practical, facts, {4, 1e-6}, Calibrator::cks).rule;
          set_for_replay(*s.algorithm, facts, sampling);
          s.algorithm->check(facts);
          if (const auto plan = s.algorithm->plan(facts); !plan.empty()) {
            const auto noise =
                calibrate_common_noise(plan, facts.records, {4, 1e-6}, Calibrator::cks);
            s.algorithm->set_common_noise(noise.sensitivity_ratio);
            s.rule = noise.rule;
          }
        } catch (const InputError&) {
          continue;
        }
        // With its own batches a run ends where its budget does; else room for every branch.
        if (*sampling != '\0' || !samples) {
          s.rule.capacity *= 1e3;
          s.rule.pure_capacity *= 1e3;
        }
        s.name = fmt::format("on {}, {}{}{}",
                             problem,
                             variant == Variant::printed ? "printed" : "repaired",
                             *sampling != '\0' ? ", batches by " : "",
                             sampling);
        subjects.push_back(std::move(s));
      }
  return subjects;
}

Problem other_problem(const Subject& subject) {
  return small_problem(subject.problem.facts.name, subject.problem.facts.records, 99);
}

}  // namespace dpsosp::audit
