// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "dpsosp/core/members.hpp"
#include "dpsosp/experiments/json_members.hpp"

namespace dpsosp {

/// Name of a probe, by its parameters.
struct ProbeName {
  std::string_view name;
  int numbers_version = 1;  ///< raised by every change that moves a number
};

/// A measurement of a lemma: what no private run shows by itself. A probe is a job like a run:
/// described, computed once, stored. It is a struct of its parameters, which names it and what it
/// finds:
///   struct TreeNoise {
///     static constexpr ProbeName probe{"liu-talwar-2025/tree-noise"};
///     Index dimension;
///     struct Result {
///       double mean_largest;
///     };
///   };
///   DPSOSP_MEMBERS(TreeNoise, dimension);
///   DPSOSP_MEMBERS(TreeNoise::Result, mean_largest);
template <class T>
concept Probe = Listed<T> && Listed<typename T::Result> && requires {
  T::probe.numbers_version;
};

template <Probe P>
P read_parameters(const nlohmann::json& parameters) {
  return read_json<P>(parameters, {"probe " + std::string(P::probe.name)});
}
/// From what a store has.
template <Probe P>
typename P::Result read_result(const nlohmann::json& result) {
  return read_json<typename P::Result>(result, {"result of probe " + std::string(P::probe.name)});
}

using ProbeCompute = nlohmann::json (*)(const nlohmann::json& parameters, std::uint64_t seed);

struct ProbeEntry {
  std::string name;  ///< "liu-talwar-2025/tree-noise"
  int numbers_version = 1;
  ProbeCompute compute = nullptr;  ///< null: this program is built without the code
};

/// An entry for a pure function of parameters and seed, which throws RunFailed if it ends without
/// numbers.
template <auto compute, Probe P>
ProbeEntry probe_entry(typename P::Result (*)(const P& parameters, std::uint64_t seed)) {
  return {std::string(P::probe.name), P::probe.numbers_version,
          [](const nlohmann::json& parameters, std::uint64_t seed) {
            return write_json(compute(read_parameters<P>(parameters), seed));
          }};
}
template <auto compute>
ProbeEntry probe_entry() {
  return probe_entry<compute>(compute);
}

}  // namespace dpsosp
