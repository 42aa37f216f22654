// SPDX-License-Identifier: Apache-2.0
#include "actor.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/isolation/guest_process.hpp"
#include "opening.hpp"
#include "run_setup.hpp"

namespace dpsosp {
namespace {

class InThisProcess final : public Actor {
 public:
  explicit InThisProcess(const RunDescription& d)
      : description_(d), algorithm_(find_algorithm(d.algorithm)) {
    if (algorithm_->card().files != d.program)
      throw InputError(fmt::format("run: program {} changed since it was described", d.algorithm));
  }

  /// The registered program of a card.
  bool isolated() const override { return algorithm_->card().is_program(); }
  Scheduled prepare(const PublicFacts& facts) override {
    Scheduled scheduled = dpsosp::prepare(*algorithm_, preparation_of(description_), facts);
    check_rule(description_, scheduled);
    return scheduled;
  }
  std::map<std::string, std::string> parameters() const override {
    return values_of(algorithm_->fields());
  }
  Outcome run(Curator& curator, StreamKey key, Observer& observer) override {
    key.purpose = Purpose::algorithm;
    return algorithm_->run(curator, Stream::sealed(key), observer);
  }

 private:
  RunDescription description_;
  std::unique_ptr<Algorithm> algorithm_;
};

/// \returns null without a path
std::unique_ptr<SealedProgram> read_program(const RunDescription& d, const std::string& path) {
  if (path.empty()) return nullptr;
  auto program = std::make_unique<SealedProgram>(path);
  if (program_key(*program) != d.algorithm)
    throw InputError(fmt::format("run: program {} changed since its key was made", path));
  return program;
}

/// A program's settings are its named parameters; one that names none may be given any.
void check_names(const std::map<std::string, std::string>& settings,
                 const std::map<std::string, std::string>& parameters) {
  if (parameters.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, text] : parameters) names.push_back(name);
  for (const auto& [name, text] : settings)
    if (!parameters.contains(name)) reject_unknown("setting of the program", name, names);
}

class Isolated final : public Actor {
 public:
  Isolated(const RunDescription& d, const Isolation& isolation)
      : description_(d),
        program_(read_program(d, isolation.program)),
        guest_(program_.get(), isolation.starter) {}

  bool isolated() const override { return true; }
  Scheduled prepare(const PublicFacts& facts) override {
    PreparedGuest prepared = guest_.prepare(
        {.algorithm = description_.algorithm, .how = preparation_of(description_)}, facts);
    check_rule(description_, prepared.scheduled);
    if (program_) {
      check_names(description_.settings, prepared.parameters);
      prepared.scheduled = {.rule = prepared.scheduled.rule,
                            .note = "of a program, of which nothing is known"};
    }
    parameters_ = std::move(prepared.parameters);
    return std::move(prepared.scheduled);
  }
  std::map<std::string, std::string> parameters() const override { return parameters_; }
  Outcome run(Curator& curator, StreamKey key, Observer& observer) override {
    key.purpose = Purpose::algorithm;
    return guest_.run(curator, Stream::sealed(key), observer);
  }

 private:
  RunDescription description_;
  std::unique_ptr<SealedProgram> program_;
  GuestProcess guest_;
  std::map<std::string, std::string> parameters_;
};

}  // namespace

std::unique_ptr<Actor> make_actor(const RunDescription& description,
                                  const std::optional<Isolation>& isolation) {
  if (isolation && description.program.empty())
    return std::make_unique<Isolated>(description, *isolation);
  return std::make_unique<InThisProcess>(description);
}

}  // namespace dpsosp
