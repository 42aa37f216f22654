// SPDX-License-Identifier: Apache-2.0
#include "controls.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace dpsosp::league {
namespace {

constexpr std::array<Door, 2> doors{Door::no_noise, Door::no_data};

/// The places of the controls: of both groups of saddles the third n at the middle d.
std::vector<Place> control_places(Scale scale) {
  std::vector<Place> list;
  for (const Place& place : places(scale))
    if ((place.group->id == "saddles" || place.group->id == "escapes") &&
        place.dimension == dimensions()[1] &&
        (scale == Scale::smoke || place.records == place.group->records[2]))
      list.push_back(place);
  return list;
}

/// The same run through another door; it keeps the random numbers.
std::optional<Job> through(const std::optional<Job>& job, Door door) {
  if (!job || door == Door::enforced) return job;
  RunDescription run = *job->run();
  run.door = door;
  return Job(run);
}

/// Levels of a method at a place through a door, and of the starts.
std::pair<std::vector<double>, std::vector<double>> levels_at(const Runs& runs, const Place& place,
                                                              const Method& method, Door door,
                                                              Scale scale) {
  const Division division = tuned(scale, budgets.back());
  std::pair<std::vector<double>, std::vector<double>> levels;
  for (const Instance& instance : instances(place, Use::final, scale)) {
    const auto job = job_of(method, division.trial(place, method), instance, place.records, scale);
    const Reached r = reached_by(runs, through(job, door));
    levels.first.push_back(r.level);
    levels.second.push_back(r.start);
  }
  return levels;
}

plots::Cell spread(const std::vector<double>& levels) {
  std::vector<double> finished;
  std::ranges::copy_if(levels, std::back_inserter(finished),
                       [](double v) { return std::isfinite(v); });
  return plots::spread_cell(finished, std::ssize(levels) - std::ssize(finished), "failed");
}

}  // namespace

std::vector<Job> control_jobs(Scale scale) {
  std::vector<Job> jobs;
  const Division division = tuned(scale, budgets.back());
  for (const Place& place : control_places(scale))
    for (const Method& method : division.methods)
      for (const Instance& instance : instances(place, Use::final, scale))
        for (const Door door : doors)
          if (auto job = through(
                  job_of(method, division.trial(place, method), instance, place.records, scale),
                  door))
            jobs.push_back(std::move(*job));
  return jobs;
}

std::vector<League::Control> controls(const Runs& runs, Scale scale) {
  std::vector<League::Control> list;
  for (const Place& place : control_places(scale))
    for (const Method& method : methods()) {
      auto [as_run, start] = levels_at(runs, place, method, Door::enforced, scale);
      list.push_back({.group = place.group->id,
                      .algorithm = method.algorithm,
                      .records = place.records,
                      .as_run = std::move(as_run),
                      .no_noise = levels_at(runs, place, method, Door::no_noise, scale).first,
                      .no_data = levels_at(runs, place, method, Door::no_data, scale).first,
                      .start = std::move(start)});
    }
  return list;
}

plots::Table controls_table(const Runs& runs, Scale scale) {
  plots::Table t;
  t.id = "controls";
  t.row_header = "algorithm";
  t.column_groups.push_back({"", {"as run", "ε = ∞", "noise only", "start"}});
  for (const League::Control& c : controls(runs, scale)) {
    const std::string label =
        fmt::format("{}, d = {}, n = {}", find_group(c.group).title, dimensions()[1], c.records);
    t.add({.label = c.algorithm,
           .cells = {spread(c.as_run), spread(c.no_noise), spread(c.no_data), spread(c.start)}},
          label);
  }
  return t;
}

}  // namespace dpsosp::league
