// SPDX-License-Identifier: Apache-2.0
// Audits as jobs: described, computed anywhere, and restored from the store.
#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/audit/audit.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/study.hpp"
#include "noise_check.hpp"
#include "noise_law.hpp"
#include "subject.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

json to_json(const NoiseNumbers& noise) {
  return {{"count", noise.count}, {"beyond", noise.beyond}, {"extremes", noise.extremes}};
}

json replay(const json& p, std::uint64_t) {
  const std::string algorithm = p.at("algorithm"), plant = p.at("plant");
  const ReplayAudit audit = audit_replay(
      algorithm,
      {.plant = plant, .most_instances = p.at("instances"), .seed = p.value("seed", 0U)});
  json lines = json::array();
  for (const CheckLine& line : audit.lines)
    lines.push_back(
        {{"property", line.property}, {"passed", line.passed}, {"detail", line.detail}});
  json queries = json::object();
  for (const auto& [name, query] : audit.queries)
    queries[name] = {{"answers", query.answers}, {"attained", to_json_number(query.attained)}};
  return {{"instances", audit.instances},
          {"pairs", audit.pairs},
          {"answers", audit.answers},
          {"queries", std::move(queries)},
          {"attained", to_json_number(audit.attained)},
          {"first_caught", audit.first_caught},
          {"noise", to_json(audit.noise)},
          {"passed", audit.passed()},
          {"checks", std::move(lines)}};
}

json statistics(const json& p, std::uint64_t) {
  StatisticalOptions options;
  options.runs = p.at("runs");
  options.epsilon = p.at("epsilon");
  options.delta = p.at("delta");
  options.confidence = p.at("confidence");
  options.seed = p.value("seed", 0U);
  const std::string algorithm = p.at("algorithm"), plant = p.at("plant");
  const StatisticalAudit audit = audit_statistics(algorithm, options, plant);
  json result{{"instance", audit.instance},
              {"runs", audit.runs},
              {"claimed", audit.claimed},
              {"delta", options.delta},
              {"accounted", to_json_number(audit.accounted)},
              {"audited", to_json_number(audit.audited)},
              {"direct", to_json_number(audit.direct)},
              {"confidence", options.confidence},
              {"falsified", audit.falsified},
              {"law", audit.law},
              {"noise", to_json(audit.noise)},
              {"answers", audit.answers}};
  if (audit.power >= 0) result["power"] = audit.power;
  return result;
}

json plant(const json& p, std::uint64_t) {
  const PlantAudit audit = audit_plant(p.at("plant").get<std::string>(), p.at("most_runs"));
  return {{"name", audit.plant.name},
          {"wrong", audit.plant.wrong},
          {"host", audit.plant.host},
          {"pairs", audit.pairs},
          {"property", audit.property},
          {"runs", audit.runs},
          {"most_runs", p.at("most_runs")},
          {"caught", audit.caught()}};
}

struct Size {
  Index instances, runs, plant_runs;
};
Size size_of(const Study& study) {
  switch (study.scale) {
    case Scale::smoke:
      return {2, 64, 125};
    case Scale::quick:
      return {0, 4000, 4000};
    case Scale::full:
      break;
  }
  return {0, 20000, 256000};
}

using audit::find_audited;

int version_of(std::string_view algorithm) {
  return find_audited(algorithm)->card().numbers_version;
}

}  // namespace

std::vector<ProbeEntry> audit_probes() {
  return {
      {"audit/replay", 4, replay}, {"audit/statistics", 5, statistics}, {"audit/plant", 4, plant}};
}

AuditJobs::OfAlgorithm audit_jobs(std::string_view algorithm,
                                  const Study& study,
                                  Index runs,
                                  std::uint32_t seed) {
  const Size size = size_of(study);
  const StatisticalOptions defaults;
  json common{
      {"algorithm", algorithm}, {"algorithm_version", version_of(algorithm)}, {"plant", ""}};
  if (seed != 0) common["seed"] = seed;
  json of_replay = common, of_statistics = common;
  of_replay["instances"] = size.instances;
  of_statistics["runs"] = runs == 0 ? size.runs : runs;
  of_statistics["epsilon"] = defaults.epsilon;
  of_statistics["delta"] = defaults.delta;
  of_statistics["confidence"] = defaults.confidence;
  return {std::string(algorithm),
          study.probe("audit/replay", std::move(of_replay)),
          study.probe("audit/statistics", std::move(of_statistics))};
}

AuditJobs audit_jobs(const Study& study, std::uint32_t seed) {
  AuditJobs jobs;
  for (const std::string& algorithm : audited_algorithms())
    jobs.algorithms.push_back(audit_jobs(algorithm, study, 0, seed));
  for (const AuditPlant& p : audit_plants())
    jobs.plants.push_back(study.probe("audit/plant",
                                      {{"plant", p.name},
                                       {"algorithm_version", version_of(p.host)},
                                       {"most_runs", size_of(study).plant_runs}}));
  return jobs;
}

std::vector<json> AuditJobs::all() const {
  std::vector<json> jobs;
  for (const OfAlgorithm& a : algorithms) {
    jobs.push_back(a.replay);
    jobs.push_back(a.statistics);
  }
  jobs.insert(jobs.end(), plants.begin(), plants.end());
  return jobs;
}

NoiseNumbers AuditJobs::noise_of(const json& replay, const json& statistics) {
  NoiseNumbers sum;
  for (const json* result : {&replay, &statistics}) {
    if (!result->contains("noise")) continue;  // a failed run
    const json& noise = result->at("noise");
    sum.add({.count = noise.at("count"),
             .beyond = noise.at("beyond"),
             .extremes = noise.at("extremes").get<std::vector<double>>()});
  }
  return sum;
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
    lines.push_back(
        {fmt::format("of {} numbers of noise, {} are beyond {} deviations",
                     all.count,
                     all.beyond[k],
                     NormalLaw::limits[k]),
         p >= audit::false_alarm,
         fmt::format(
             "{:.4g} expected, probability {:.2g}", tail * static_cast<double>(all.count), p)});
  }
  const audit::Finding extremes = audit::coincidence_of_extremes(all.extremes);
  lines.push_back({fmt::format("numbers beyond {} deviations differ", NormalLaw::extreme),
                   extremes.p >= audit::false_alarm,
                   extremes.what});
  return lines;
}

PlantAudit audit_plant(std::string_view name, Index most_runs) {
  const auto& all = audit_plants();
  const auto found = std::ranges::find(all, name, &AuditPlant::name);
  PlantAudit audit;
  if (found != all.end()) audit.plant = *found;
  const ReplayAudit replayed =
      audit_replay(audit.plant.host, {.plant = name, .until_caught = true});
  audit.pairs = replayed.first_caught;
  for (const CheckLine& line : replayed.lines)
    if (!line.passed && audit.property.empty()) audit.property = line.property;
  for (Index runs = 125; runs <= most_runs && audit.runs == 0; runs *= 2)
    if (audit_statistics(audit.plant.host, {.runs = runs, .power = false}, name).falsified)
      audit.runs = runs;
  return audit;
}

}  // namespace dpsosp
