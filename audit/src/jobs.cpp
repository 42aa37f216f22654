// SPDX-License-Identifier: Apache-2.0
// Audits as jobs: described, computed anywhere, and restored from the store.
#include <algorithm>

#include <fmt/format.h>

#include "common.hpp"
#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/study.hpp"
#include "noise/noise_check.hpp"
#include "noise/noise_law.hpp"
#include "subjects/subject.hpp"

namespace dpsosp {
namespace {

ReplayAudit compute_replay(const ReplayJob& job, std::uint64_t) { return audit_replay(job); }
StatisticalAudit compute_statistics(const StatisticsJob& job, std::uint64_t) {
  return audit_statistics(job);
}
PlantAudit compute_plant(const PlantJob& job, std::uint64_t) { return audit_plant(job); }
CheckLine compute_common(const CommonJob& job, std::uint64_t) { return audit_common(job); }

struct Size {
  Index instances, runs;
  Index plant_runs;  ///< 0: plants are attacked by replay alone
};
Size size_of(const Study& study) {
  switch (study.scale) {
    case Scale::smoke:
      return {2, 64, 0};
    case Scale::quick:
      return {0, 4000, 4000};
    case Scale::full:
      break;
  }
  return {0, 20000, 256000};
}

/// Every run of a program is a process, which takes as long to start as thousands of queries.
Size size_of_program(const Study& study) {
  switch (study.scale) {
    case Scale::smoke:
      return {1, 16, 0};
    case Scale::quick:
      return {6, 125, 0};
    case Scale::full:
      break;
  }
  return {0, 1000, 0};
}

using audit::find_audited;

int version_of(std::string_view algorithm) {
  return find_audited(algorithm)->card().numbers_version;
}

}  // namespace

std::vector<ProbeEntry> audit_probes() {
  return {probe_entry<compute_replay>(), probe_entry<compute_statistics>(),
          probe_entry<compute_plant>(), probe_entry<compute_common>()};
}

AuditJobs::OfAlgorithm audit_jobs(std::string_view algorithm, const Study& study, Index runs,
                                  std::uint32_t seed) {
  const AlgorithmCard card = find_audited(algorithm)->card();
  const Size size = card.is_program() ? size_of_program(study) : size_of(study);
  const StatisticalOptions defaults;
  const std::string key(algorithm);
  const int version = card.numbers_version;
  const auto other_seed = seed != 0 ? std::optional(seed) : std::nullopt;
  return {key,
          {.algorithm = key,
           .algorithm_version = version,
           .plant = "",
           .seed = other_seed,
           .instances = size.instances},
          {.algorithm = key,
           .algorithm_version = version,
           .plant = "",
           .seed = other_seed,
           .runs = runs == 0 ? size.runs : runs,
           .epsilon = defaults.epsilon,
           .delta = defaults.delta,
           .confidence = defaults.confidence}};
}

AuditJobs audit_jobs(const Study& study, std::uint32_t seed) {
  AuditJobs jobs;
  for (const std::string& algorithm : audited_algorithms())
    jobs.algorithms.push_back(audit_jobs(algorithm, study, 0, seed));
  for (const AuditPlant& p : audit_plants())
    jobs.plants.push_back({.plant = p.name,
                           .algorithm_version = version_of(p.host),
                           .most_runs = size_of(study).plant_runs});
  for (const std::string& check : audit_common_checks())
    jobs.common.push_back({.check = check,
                           .little = study.scale == Scale::smoke,
                           .seed = seed != 0 ? std::optional(seed) : std::nullopt});
  return jobs;
}

std::vector<Job> AuditJobs::all(const Study& study) const {
  std::vector<Job> jobs;
  for (const OfAlgorithm& a : algorithms) {
    jobs.push_back(study.probe(a.replay));
    jobs.push_back(study.probe(a.statistics));
  }
  for (const PlantJob& p : plants) jobs.push_back(study.probe(p));
  for (const CommonJob& c : common) jobs.push_back(study.probe(c));
  return jobs;
}

void NoiseNumbers::add(const NoiseNumbers& other) {
  count += other.count;
  for (std::size_t k = 0; k < beyond.size(); ++k) beyond[k] += other.beyond[k];
  extremes.insert(extremes.end(), other.extremes.begin(), other.extremes.end());
}

std::vector<CheckLine> pooled_tails(const NoiseNumbers& all) {
  using audit::NormalLaw;
  std::vector<CheckLine> lines;
  for (std::size_t k = 0; k < all.beyond.size() && all.count > 0; ++k) {
    const double tail = audit::two_sided(NormalLaw::limits[k]);
    const double p = audit::two_sided_binomial(all.beyond[k], all.count, tail);
    lines.push_back({fmt::format("of {} numbers of noise, {} are beyond {} deviations", all.count,
                                 all.beyond[k], NormalLaw::limits[k]),
                     p >= audit::false_alarm,
                     fmt::format("{:.4g} expected, probability {:.2g}",
                                 tail * static_cast<double>(all.count), p)});
  }
  const audit::Finding extremes = audit::coincidence_of_extremes(all.extremes);
  lines.push_back({fmt::format("numbers beyond {} deviations differ", NormalLaw::extreme),
                   extremes.p >= audit::false_alarm, extremes.what});
  return lines;
}

ReplayAudit audit_replay(const ReplayJob& job) {
  return audit_replay(
      job.algorithm,
      {.plant = job.plant, .most_instances = job.instances, .seed = job.seed.value_or(0)});
}

StatisticalAudit audit_statistics(const StatisticsJob& job) {
  // Fewer runs rule out next to nothing at any usual confidence.
  constexpr Index least_runs_for_power = 100;
  return audit_statistics(job.algorithm,
                          {.runs = job.runs,
                           .epsilon = job.epsilon,
                           .delta = job.delta,
                           .confidence = job.confidence,
                           .power = job.runs >= least_runs_for_power,
                           .seed = job.seed.value_or(0)},
                          job.plant);
}

std::vector<std::string> audit_common_checks() {
  std::vector<std::string> names;
  for (const audit::CommonCheck& check : audit::common_checks()) names.emplace_back(check.name);
  return names;
}

CheckLine audit_common(const CommonJob& job) {
  const auto& all = audit::common_checks();
  const auto found = std::ranges::find(all, job.check, &audit::CommonCheck::name);
  if (found == all.end()) reject_unknown("common check", job.check, audit_common_checks());
  const std::string complaint = found->complaint(
      job.seed.value_or(0), job.little ? audit::Effort::little : audit::Effort::usual);
  return {std::string(found->property), complaint.empty(), complaint};
}

PlantAudit audit_plant(const PlantJob& job) {
  const auto& all = audit_plants();
  const auto found = std::ranges::find(all, job.plant, &AuditPlant::name);
  PlantAudit audit{.most_runs = job.most_runs};
  if (found != all.end()) {
    audit.name = found->name;
    audit.wrong = found->wrong;
    audit.host = found->host;
  }
  const ReplayAudit replayed = audit_replay(audit.host, {.plant = job.plant, .until_caught = true});
  audit.pairs = replayed.first_caught;
  for (const CheckLine& line : replayed.checks)
    if (!line.passed && audit.property.empty()) audit.property = line.property;
  for (Index runs = 125; runs <= job.most_runs && audit.runs == 0; runs *= 2)
    if (audit_statistics(audit.host, {.runs = runs, .power = false}, job.plant).falsified)
      audit.runs = runs;
  audit.caught = audit.pairs > 0 || audit.runs > 0;
  return audit;
}

}  // namespace dpsosp
