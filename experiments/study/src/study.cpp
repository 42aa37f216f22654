// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/study.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/numbers_version.hpp"
#include "dpsosp/experiments/run_json.hpp"

namespace dpsosp {
namespace {

/// The entry of that name. \throws InputError with the nearest name
template <class Entry>
const Entry& named(std::string_view kind, const std::vector<Entry>& entries,
                   std::string_view name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  if (found != entries.end()) return *found;
  std::vector<std::string> names;
  for (const Entry& e : entries) names.emplace_back(e.name);
  reject_unknown(kind, std::string(name), names);
}

}  // namespace

bool Catalogue::has_sweep(std::string_view name) const {
  return std::ranges::find(sweeps, name, &BuiltInSweep::name) != sweeps.end();
}

nlohmann::json Catalogue::compute(const Job& job) const {
  if (job.run() != nullptr) return compute_run(*job.run());
  if (job.probe() == nullptr) throw InputError("a job is neither a run nor a probe");
  const ProbeEntry& probe = named("probe", probes, job.probe()->probe);
  if (probe.compute == nullptr)
    throw InputError(
        fmt::format("probe {}: this program is built without the code for it", probe.name));
  return probe.compute(job.probe()->parameters, job.seed());
}

bool Catalogue::can_compute(const Job& job) const {
  return job.probe() == nullptr || named("probe", probes, job.probe()->probe).compute != nullptr;
}

bool Study::stores(const std::vector<Job>& jobs) const {
  return store != nullptr && std::ranges::all_of(jobs, [&](const Job& job) {
           return store->status(job.key()).has_value();
         });
}

Sweep Study::sweep(std::string_view name) const {
  auto known = parsed.find(name);
  if (known == parsed.end()) {
    const BuiltInSweep& s = named("sweep", catalogue.sweeps, name);
    Sweep read = parse_sweep(s.toml, std::string(name), scale, catalogue.exponents);
    known = parsed.emplace(name, std::move(read)).first;
  }
  Sweep sweep = known->second;
  for (Part& part : sweep.parts)
    if (const auto more = seeds.find({sweep.name, part.name}); more != seeds.end())
      part.seeds = more->second;
  return sweep;
}

bool Study::add_seeds(const Runs& runs) {
  bool added = false;
  for (const BuiltInSweep& s : catalogue.sweeps) {
    const Sweep all = sweep(s.name);
    for (const Part& part : all.parts) {
      if (part.seeds >= part.most_seeds) continue;
      Sweep alone = all;
      alone.parts = {part};
      if (!std::ranges::all_of(jobs_of(alone), [&](const auto& j) { return runs.contains(j); }))
        continue;
      if (!dpsosp::add_seeds(runs, alone)) continue;
      added = true;
      seeds[{all.name, part.name}] = alone.parts.front().seeds;
    }
  }
  return added;
}

Job Study::probe(std::string_view name, nlohmann::json parameters, std::uint64_t seed) const {
  const int version = named("probe", catalogue.probes, name).numbers_version;
  return ProbeCall{.probe = std::string(name),
                   .parameters = std::move(parameters),
                   .seed = seed,
                   .numbers_version = {.probe = version}};
}

}  // namespace dpsosp
