// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/checks/check.hpp"
#include "dpsosp/experiments/run.hpp"

namespace dpsosp {

/// One run of an algorithm at quick scale, seconds on one core, that shows it at work.
struct QuickRun {
  RunSpec spec;
  std::string remark = {};  ///< why this instance
};

/// A quick run for every registered algorithm, in the registry's order.
const std::vector<QuickRun>& quick_runs();
/// \throws InputError if the key is not registered
const QuickRun& quick_run(std::string_view algorithm);

/// The command line of a run.
std::string command_of(const RunSpec& spec);

/// What a quick run measures, and what every algorithm owes.
struct AlgorithmCheck {
  std::string algorithm;
  std::string command;
  std::string metric;  ///< sosp_level; gradient_norm without ρ; value for excess risk
  double start = 0;
  double output = 0;
  double guarantee = 0;  ///< ε; infinite without privacy
  double spent = 0;
  double seconds = 0;
  std::vector<CheckLine> lines;

  bool passed() const;
};

/// Runs the quick run twice: a normal end, the same bits, a spent budget within the guarantee, an
/// output better than the start in its metric, under a minute.
AlgorithmCheck check_algorithm(std::string_view algorithm);

}  // namespace dpsosp
