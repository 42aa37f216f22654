// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actor.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run_inputs.hpp"
#include "dpsosp/isolation/sealed_program.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

/// The objects that a run needs, made from its description.
struct Setup {
  Problem problem;
  PublicFacts told;  ///< what the algorithm sees
  std::unique_ptr<Actor> actor;
  Scheduled scheduled;
};

/// \throws InputError
Setup set_up(const RunDescription& description, const std::optional<Isolation>& isolation);

/// See program_key of a path.
std::string program_key(const SealedProgram& program);

/// A family with its settings, without the factors on constants. \throws InputError
std::unique_ptr<ProblemFamily> make_family(const std::string& name,
                                           const std::map<std::string, std::string>& settings);

/// The data of the problem that the run is on.
InstanceSpec instance_of(const RunSpec& spec, const ProblemFamily& family);

}  // namespace dpsosp
