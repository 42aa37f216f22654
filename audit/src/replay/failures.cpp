// SPDX-License-Identifier: Apache-2.0
#include "replay/failures.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/experiments/ledger_summary.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "subjects/instances.hpp"
#include "subjects/neighbour.hpp"
#include "subjects/stand_ins.hpp"

namespace dpsosp::audit {
namespace {

class Unreadable final : public std::exception {
 public:
  const char* what() const noexcept override { return "a record that cannot be read"; }
};

/// What has been charged.
struct Spent {
  std::int64_t queries = 0;
  nlohmann::json ledger;
  Remaining left;

  static Spent of(const Curator& curator) {
    const Ledger ledger = curator.ledger();
    return {ledger.queries(), summary_of(ledger), curator.remaining()};
  }
  std::string difference(const Spent& other) const {
    if (queries != other.queries)
      return fmt::format("{} queries are listed, {} were charged", queries, other.queries);
    if (ledger != other.ledger) return "the ledger has other charges";
    if (left.share != other.left.share || left.pure_share != other.left.pure_share ||
        left.fresh_records != other.left.fresh_records)
      return fmt::format("{:.6g} of the budget is left, {:.6g} was", left.share + left.pure_share,
                         other.left.share + other.left.pure_share);
    return {};
  }
};

}  // namespace

std::unique_ptr<Curator> curator_of(const Subject& subject, const AnyRecords& records,
                                    std::uint64_t seed) {
  return std::make_unique<Curator>(subject.problem->facts, records, subject.rule,
                                   StreamKey{.seed = seed, .run = subject.stream});
}

std::string complaint_of_failures(std::string_view mechanism, std::uint64_t seed, int most,
                                  const MakeCurator& make) {
  const Subject subject = fast_subject(mechanism, {8, 1e-6});
  const AnyRecords& own = *subject.problem->records;
  std::uint64_t of_run = seed;
  /// One run, with `before` called whenever the record is asked. \returns how often it was
  const auto run = [&](const std::function<void(int, const Curator&)>& before) {
    int asked = 0;
    const Curator* curator = nullptr;
    const Neighbour records(own, 0, announced(one_of(own, 0), [&] { before(++asked, *curator); }));
    const auto made = make(subject, records, of_run);
    curator = made.get();
    Unheard observer;
    std::optional<Spent> after;
    try {
      subject.algorithm->run(*made, stream_of(subject, of_run), observer);
    } catch (const Unreadable&) {
      after = Spent::of(*made);
    }
    return std::pair(asked, after);
  };
  // Secret batches may leave the record out of all of a run's questions, as one run of 32 does.
  constexpr int runs = 12;
  int all = 0;
  for (int k = 0; k < runs && all == 0; ++k) {
    of_run = (static_cast<std::uint64_t>(k) << 32U) + seed;
    all = run([](int, const Curator&) {}).first;
  }
  if (all == 0) return fmt::format("{}: the exchanged record is never asked", mechanism);
  const int tried = std::min(all, most);
  for (int k = 0; k < tried; ++k) {
    const int when = 1 + k * all / tried;
    std::optional<Spent> then;
    run([&](int asked, const Curator& curator) {
      if (asked == when) then = Spent::of(curator);
    });
    const auto after = run([&](int asked, const Curator&) {
                         if (asked == when) throw Unreadable();
                       }).second;
    if (!then || !after)
      return fmt::format("{}: a record that throws when it is asked is passed over", mechanism);
    if (const std::string difference = after->difference(*then); !difference.empty())
      return fmt::format("{}, after a record that throws: {}", mechanism, difference);
  }
  return {};
}

}  // namespace dpsosp::audit
