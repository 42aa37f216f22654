// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "replay/transcript.hpp"
#include "subjects/plants.hpp"

namespace dpsosp::audit {

/// A registered algorithm, or one of the audit's own. \throws InputError for unknown keys, and for
/// algorithms that claim no privacy
std::unique_ptr<Algorithm> find_audited(std::string_view key);

/// The records that are not exchanged, in the attack by likelihood ratios.
enum class Others {
  own,        ///< the problem's
  as_second,  ///< all like the second data set's: a sample without the record then says most
  silent,     ///< without effect
  outward     ///< in favour of the candidates farthest out, between which the record decides
};

class Unheard final : public Observer {
 public:
  void iterate(Index, ConstVectorRef) override {}
};

/// What is attacked: an algorithm with its parameters, and the data set of which one record is
/// exchanged.
struct Subject {
  std::string name;  ///< "on double-well, repaired"
  std::shared_ptr<const Problem> problem;
  std::shared_ptr<const Problem> other;  ///< the same with other records
  std::unique_ptr<Algorithm> algorithm;
  FilterRule rule;
  std::optional<PrivacyBudget> claimed;  ///< what the rule keeps; none where it was widened
  bool release = false;                  ///< with exact noise
  Others others = Others::own;
  std::uint32_t stream = 0;  ///< of its random numbers, so that audits do not share their luck
};

/// What a run shows to anybody, compared bit by bit: output, status, counts, ledger, what is left
/// of budget and data, and what an observer sees of every step. What depends on the records and is
/// marked so (certificates, clip counts, timings) is no part of it.
struct Shown {
  nlohmann::json result;
  std::vector<Vector> observed;
  bool operator==(const Shown& other) const;
};

/// The stream that a run's algorithm begins with.
Stream stream_of(const Subject& subject, std::uint64_t seed);

/// Whether noise, choices and batches are drawn again from the key of the run (Redraw).
enum class Again { no, yes };

struct Recorded {
  Transcript transcript;
  Shown shown;
  Ledger ledger;
  std::string other_noise;  ///< the first that is not drawn again alike (Redraw), or empty
};
/// One run with the sound curator. \param bug  planted, or Plant::none
Recorded record(const Subject& subject, const Neighbour& records, std::uint64_t seed, Plant bug,
                Again again = Again::yes);

struct Replayed {
  std::vector<Vector> answers;
  std::string difference;         ///< in questions or releases; empty if there is none
  std::string charge_difference;  ///< likewise
  Shown shown;
  std::string other_noise;  ///< as of Recorded
};
/// The same run on other records with the releases of the recorded one.
Replayed replay(const Subject& subject, const Recorded& recorded, const Neighbour& records,
                std::uint64_t seed, Plant bug);
/// Its answers alone: nothing is drawn again or compared.
std::vector<Vector> answers_of(const Subject& subject, const Recorded& recorded,
                               const Neighbour& records, std::uint64_t seed, Plant bug);

/// The same run by the curator that anybody uses, with the same words and without an auditor.
Shown unwatched(const Subject& subject, const Neighbour& records, std::uint64_t seed);

}  // namespace dpsosp::audit
