// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/built_in_sweep.hpp"
#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/probe.hpp"
#include "dpsosp/experiments/scale.hpp"
#include "dpsosp/experiments/store.hpp"
#include "dpsosp/experiments/sweep.hpp"

namespace dpsosp {

struct Study;

/// All that can be reproduced. The engine is handed it, and so names no paper.
struct Catalogue {
  std::vector<BuiltInSweep> sweeps;
  std::vector<StatedExponent> exponents;  ///< of the claims that fits of sweeps name
  std::vector<ProbeEntry> probes;
  std::vector<ExhibitEntry> exhibits;
  std::string_view costs;  ///< measured costs of the exhibits' runs, as costs_csv writes them

  bool has_sweep(std::string_view name) const;
  /// \throws InputError if it has no code for it
  nlohmann::json compute(const Job& job) const;
  /// True if this program has the code. \throws InputError for an unknown probe
  bool can_compute(const Job& job) const;
};

/// A catalogue at one scale: the sweeps and probes that exhibits and claims are made of. Refers to
/// the catalogue and the store.
struct Study {
  const Catalogue& catalogue;
  Scale scale = Scale::quick;
  /// Seeds of parts that have gone on, by sweep and part.
  std::map<std::pair<std::string, std::string>, std::uint64_t> seeds{};
  const Store* store = nullptr;  ///< where runs may be found; null: nowhere
  /// Sweeps that were asked for, without those seeds. Not for several threads.
  mutable std::map<std::string, Sweep, std::less<>> parsed{};

  /// True if the store has every one of these runs.
  bool stores(const std::vector<Job>& jobs) const;

  /// Gives more seeds to parts of sweeps that need them, of those whose runs are all among these.
  /// \return whether there are any
  bool add_seeds(const Runs& runs);

  /// \throws InputError with the nearest name
  Sweep sweep(std::string_view name) const;
  /// \throws InputError for an unknown name
  Job probe(std::string_view name, nlohmann::json parameters, std::uint64_t seed = 0) const;
  template <Probe P>
  Job probe(const P& parameters, std::uint64_t seed = 0) const {
    return probe(P::probe.name, write_json(parameters), seed);
  }
};

}  // namespace dpsosp
