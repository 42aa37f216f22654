// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "dpsosp/experiments/run_inputs.hpp"

namespace dpsosp {

/// Maker of a run's steps: an algorithm of this process, or one in a process of its own.
class Actor {
 public:
  virtual ~Actor() = default;
  /// Gives the algorithm its parameters. The rule grants no more than the budget where there is
  /// one. \throws InputError, GuestFailed
  virtual Scheduled prepare(const PublicFacts& facts) = 0;
  virtual bool isolated() const = 0;  ///< whether its steps are made in a process of their own
  virtual std::map<std::string, std::string> parameters() const = 0;
  /// \param key  of the run
  virtual Outcome run(Curator& curator, StreamKey key, Observer& observer) = 0;
};

/// To be called before the records are read. \throws InputError
std::unique_ptr<Actor> make_actor(const RunDescription& description,
                                  const std::optional<Isolation>& isolation);

}  // namespace dpsosp
