// SPDX-License-Identifier: Apache-2.0
#include "subjects/subject.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/privacy/release_curator.hpp"
#include "replay/redraw.hpp"
#include "subjects/mechanisms.hpp"

namespace dpsosp::audit {
namespace {

using nlohmann::json;

class Everything final : public Observer {
 public:
  void iterate(Index, ConstVectorRef x) override { seen.emplace_back(x); }
  void estimate(Index, ConstVectorRef x, ConstVectorRef gradient) override {
    seen.emplace_back(x);
    seen.emplace_back(gradient);
  }
  std::vector<Vector> seen;
};

Shown run(const Subject& subject, Curator& curator, std::uint64_t seed) {
  Everything observer;
  json result;
  try {
    const Outcome outcome = subject.algorithm->run(curator, stream_of(subject, seed), observer);
    result = {{"status", to_string(outcome.status)},
              {"steps", outcome.steps},
              {"counts", outcome.counts},
              {"point", json::array()}};
    for (const double x : outcome.point) result["point"].push_back(to_json_number(x));
  } catch (const InputError& refusal) {
    result["refused"] = refusal.what();
  }
  const Remaining left = curator.remaining();
  result["remaining"] = {left.share, left.fresh_records, left.pure_share};
  result["queries"] = curator.ledger().queries();
  result["ledger"] = summary_of(curator.ledger());
  return {std::move(result), std::move(observer.seen)};
}

/// A run on `records` whose answers pass through `auditor`.
struct Watched {
  Shown shown;
  Ledger ledger;
  std::string other_noise;
};
Watched watch(const Subject& subject, Auditor& auditor, const Neighbour& records,
              std::uint64_t seed, Plant bug, Again again) {
  Planted planted(bug, auditor, records, seed, stream_of(subject, seed));
  ClipLog log;
  const StreamKey key{.seed = seed, .run = subject.stream};
  std::optional<Redraw> redraw;
  if (again == Again::yes) redraw.emplace(planted.auditor(), records, key, subject.release);
  AuditedCurator curator(subject.problem->facts, planted.records(), planted.rule(subject.rule), key,
                         planted.before(redraw ? *redraw : planted.auditor(), key), log,
                         subject.release ? std::make_unique<SeededWords>(key) : nullptr);
  Shown shown = run(subject, curator, seed);
  return {std::move(shown), curator.ledger(), redraw ? redraw->complaint() : ""};
}

}  // namespace

std::unique_ptr<Algorithm> find_audited(std::string_view key) {
  if (is_mechanism(key)) return make_mechanism(key);
  auto algorithm = find_algorithm(key);
  if (!algorithm->card().is_private())
    throw InputError(fmt::format("audit: {} claims no privacy", key));
  return algorithm;
}

bool Shown::operator==(const Shown& other) const {
  return result == other.result && std::ranges::equal(observed, other.observed, same_bits);
}

Stream stream_of(const Subject& subject, std::uint64_t seed) {
  return Stream::sealed({.seed = seed, .run = subject.stream, .purpose = Purpose::algorithm});
}

Recorded record(const Subject& subject, const Neighbour& records, std::uint64_t seed, Plant bug,
                Again again) {
  Recorder recorder(records);
  Watched watched = watch(subject, recorder, records, seed, bug, again);
  return {std::move(recorder.transcript), std::move(watched.shown), std::move(watched.ledger),
          std::move(watched.other_noise)};
}

Replayed replay(const Subject& subject, const Recorded& recorded, const Neighbour& records,
                std::uint64_t seed, Plant bug) {
  Replayer replayer(recorded.transcript, records);
  Watched watched = watch(subject, replayer, records, seed, bug, Again::yes);
  std::string difference = replayer.difference();
  if (difference.empty() && !replayer.complete())
    difference = fmt::format("fewer questions: {} is not asked",
                             place_of(recorded.transcript, replayer.answers.size()));
  return {std::move(replayer.answers), std::move(difference), replayer.charge_difference(),
          std::move(watched.shown), std::move(watched.other_noise)};
}

Shown unwatched(const Subject& subject, const Neighbour& records, std::uint64_t seed) {
  const StreamKey key{.seed = seed, .run = subject.stream};
  const PublicFacts& facts = subject.problem->facts;
  if (subject.release) {
    ReleaseCurator curator(facts, records, subject.rule, key, std::make_unique<SeededWords>(key));
    return run(subject, curator, seed);
  }
  Curator curator(facts, records, subject.rule, key);
  return run(subject, curator, seed);
}

std::vector<Vector> answers_of(const Subject& subject, const Recorded& recorded,
                               const Neighbour& records, std::uint64_t seed, Plant bug) {
  Replayer replayer(recorded.transcript, records);
  watch(subject, replayer, records, seed, bug, Again::no);
  return std::move(replayer.answers);
}

}  // namespace dpsosp::audit
