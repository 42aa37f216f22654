// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/run.hpp"
#include "probes.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;
using Settings = std::map<std::string, std::string>;

// ------------------------------------------------------------------- the published experiment

constexpr Index published_records = 100, published_dimension = 100, test_records = 25;
constexpr std::uint64_t test_data = 1'000'000, tuning_instances = 2'000'000;  // added to the seed

RunSpec published_run(const json& parameters, const Settings& settings, std::uint64_t seed) {
  const std::string variant = parameters.at("variant");
  RunSpec spec;
  spec.algorithm = "lowy-2024/published-experiment";
  spec.problem = "trig-radial";
  spec.problem_settings = {{"law", "ball"}};
  spec.records = published_records;
  spec.dimension = published_dimension;
  spec.epsilon = parameters.at("epsilon");
  spec.delta = std::pow(static_cast<double>(published_records), -1.5);
  spec.calibrator = "rdp";
  spec.variant = variant;
  spec.schedule = variant == "printed" ? "paper" : "practical";
  spec.settings = settings;
  spec.settings["stage"] = parameters.at("stage");
  if (parameters.contains("door")) spec.door = door_of(parameters.at("door"));
  spec.seed = spec.data_seed = seed;
  spec.observations = 0;
  return spec;
}

double gradient_norm(const json& certificate) {
  return from_json_number(certificate.at("gradient_norm"));
}

/// The settings that a grid of step sizes, periods and warm steps offers to a method.
std::vector<Settings> tuning_grid(const std::string& stage) {
  const std::vector<std::string> etas{"0.05", "0.025", "0.005", "0.0025", "0.001", "0.0005"};
  const std::vector<std::string> periods{"5", "25", "100"};
  const std::vector<std::string> warm_etas{"0.05", "0.005", "0.0005"};
  std::vector<Settings> grid;
  for (const std::string& eta : etas) {
    if (stage == "dp_sgd") {
      grid.push_back({{"step_size", eta}});
      continue;
    }
    for (const std::string& period : periods) {
      const Settings spider{{"step_size", eta}, {"period", period}};
      if (stage == "dp_spider") {
        grid.push_back(spider);
        continue;
      }
      for (const std::string& warm_eta : warm_etas) {
        grid.push_back(spider);
        grid.back()["warm_step_size"] = warm_eta;
      }
    }
  }
  return grid;
}

/// One method at one ε: gradient norms at the last iterate over train and test records, a value a
/// seed. With "tuning" = k the settings are those of the least mean train gradient over k instances
/// that no seed uses, whose cost in privacy is nothing, as they are public.
json published_experiment(const json& parameters, std::uint64_t) {
  Settings settings;
  if (const int instances = parameters.value("tuning", 0); instances > 0) {
    double least = std::numeric_limits<double>::infinity();
    for (const Settings& candidate : tuning_grid(parameters.at("stage"))) {
      double sum = 0;
      for (int k = 0; k < instances; ++k) {
        const std::uint64_t instance = tuning_instances + static_cast<std::uint64_t>(k);
        sum += gradient_norm(
            compute_run(describe(published_run(parameters, candidate, instance))).at("output"));
      }
      if (sum < least) {
        least = sum;
        settings = candidate;
      }
    }
  }
  json result{{"settings", settings}, {"train", json::array()}, {"test", json::array()}};
  double start = 0, spent = 0;
  const int seeds = parameters.at("seeds");
  for (int k = 0; k < seeds; ++k) {
    const auto seed = static_cast<std::uint64_t>(k);
    const json run = compute_run(describe(published_run(parameters, settings, seed)));
    result["train"].push_back(gradient_norm(run.at("output")));
    const json test = certify_point("trig-radial",
                                    {{"law", "ball"}},
                                    test_records,
                                    published_dimension,
                                    seed,
                                    seed + test_data,
                                    run.at("point").dump());
    result["test"].push_back(gradient_norm(test));
    start += gradient_norm(run.at("start")) / seeds;
    spent = std::max(spent, from_json_number(run.at("privacy").at("spent")));
  }
  result["start"] = start;
  result["spent"] = to_json_number(spent);
  return result;
}

}  // namespace

std::vector<ProbeEntry> lowy_2024_probes() {
  return {{.name = "lowy-2024/published-experiment", .compute = published_experiment}};
}

}  // namespace dpsosp
