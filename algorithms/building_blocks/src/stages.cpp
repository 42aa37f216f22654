// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/stages.hpp"

#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void add_stage_fields(Fields& fields, std::string_view prefix, Algorithm& stage) {
  for (Field& f : stage.fields()) {
    f.name = fmt::format("{}.{}", prefix, f.name);
    fields.push_back(std::move(f));
  }
}

void check_stage(std::string_view owner, std::string_view prefix, const Algorithm& stage,
                 const PublicFacts& facts) {
  try {
    stage.check(facts);
  } catch (const InputError& refusal) {
    const std::string line = refusal.what();
    const std::string theirs = stage.card().key + ": ";
    if (!line.starts_with(theirs)) throw;
    throw InputError(fmt::format("{}: {}.{}", owner, prefix, line.substr(theirs.size())));
  }
}

void add_stage_counts(Outcome& whole, std::string_view prefix, const Outcome& stage) {
  for (const auto& [name, count] : stage.counts)
    whole.counts[fmt::format("{}.{}", prefix, name)] = count;
}

void run_last_stage(Outcome& whole, std::string_view prefix, const Algorithm& stage,
                    Curator& curator, const ChildSpec& spec, Stream stream,
                    Observer& observer) try {
  Curator rest = curator.child(spec);
  LaterStage later(observer, whole.steps);
  Outcome outcome = stage.run(rest, stream, later);
  add_stage_counts(whole, prefix, outcome);
  whole.point = std::move(outcome.point);
  whole.status = outcome.status;
  whole.steps += outcome.steps;
} catch (const Refused& refusal) {
  whole.status = status_of(refusal);
}

}  // namespace dpsosp
