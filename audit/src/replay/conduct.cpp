// SPDX-License-Identifier: Apache-2.0
#include "replay/conduct.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::audit {
namespace {

using Kind = AuditedAnswer::Kind;

/// From the first to the last record that is charged.
std::optional<RecordRange> hull_of(const std::vector<LedgerEntry>& charges) {
  std::optional<RecordRange> hull;
  for (const LedgerEntry& e : charges)
    hull = hull ? RecordRange{std::min(hull->begin, e.charged.begin),
                              std::max(hull->end, e.charged.end)}
                : e.charged;
  return hull;
}

/// Whether an answer is paid for by itself, not by a session or a race that it belongs to.
bool is_sum(Kind kind) {
  return kind == Kind::vector || kind == Kind::matrix || kind == Kind::prefix;
}

/// Whether a batch is drawn as an amplified charge has it.
bool is_charged_so(const DrawnBatch& batch, const LedgerEntry& entry) {
  const bool fixed = std::holds_alternative<FixedSizeGaussianEvent>(*entry.event);
  const auto records = static_cast<double>(batch.range.end - batch.range.begin);
  const double rate =
      fixed ? static_cast<double>(batch.members.size()) / records : batch.policy.rate;
  const BatchPolicy::Kind kind = fixed ? BatchPolicy::Kind::sample : BatchPolicy::Kind::poisson;
  return batch.policy.kind == kind && amplifying_rate(*entry.event) == rate &&
         entry.charged == batch.range;
}

/// The scalars of one session.
struct ConductOfSession {
  std::map<std::int64_t, double> thresholds;
  std::size_t asked = 0;
  bool all_below = true, ended = false;
};

}  // namespace

std::string stray_read(const Transcript& transcript) {
  std::map<const void*, std::optional<RecordRange>> sessions;
  std::optional<RecordRange> paid;
  for (std::size_t k = 0; k < transcript.size(); ++k) {
    const Exchange& e = transcript[k];
    const bool question = e.what.kind == Kind::question;
    const bool in_race = e.what.kind == Kind::score && k > 0 &&
                         transcript[k - 1].what.kind == Kind::score &&
                         transcript[k - 1].noisy.size() == 0;
    if (!e.charges.empty()) paid = hull_of(e.charges);
    // Candidates between which no record decides cost nothing; that is checked by how they move.
    else if ((e.what.kind == Kind::score && !in_race) || is_sum(e.what.kind))
      paid.reset();
    if (e.what.kind == Kind::score && !paid) continue;
    if (e.what.kind == Kind::threshold && e.what.index == 0) sessions[e.what.session] = paid;
    if (!e.asked.read) continue;
    const auto& [begin, end] = *e.asked.read;
    const std::optional<RecordRange> by = question ? sessions[e.what.session] : paid;
    if (!by || begin < by->begin || end > by->end)
      return fmt::format("{}: reads records {} to {}, {}", place_of(transcript, k), begin, end - 1,
                         by ? fmt::format("charges {} to {}", by->begin, by->end - 1)
                            : std::string("charges none"));
  }
  return {};
}

std::string late_question(const Transcript& transcript) {
  std::map<const void*, ConductOfSession> sessions;
  for (std::size_t k = 0; k < transcript.size(); ++k) {
    const Exchange& e = transcript[k];
    if (e.noisy.size() == 0) continue;
    if (e.what.kind == Kind::threshold) {
      if (e.what.index == 0) sessions[e.what.session] = {};
      sessions[e.what.session].thresholds[e.what.index] = e.noisy[0];
    }
    if (e.what.kind != Kind::question) continue;
    ConductOfSession& session = sessions[e.what.session];
    if (session.ended)
      return place_of(transcript, k) + ": a question after the session's first yes";
    session.all_below = session.all_below && e.noisy[0] <= session.thresholds[e.what.index];
    if (++session.asked < session.thresholds.size()) continue;
    session.ended = session.all_below;
    session.asked = 0;
    session.all_below = true;
  }
  return {};
}

std::string other_sampling(const Transcript& transcript) {
  std::map<std::uint64_t, std::vector<const DrawnBatch*>> drawn;  // by the path of their curator
  for (std::size_t k = 0; k < transcript.size(); ++k) {
    const Exchange& e = transcript[k];
    for (const DrawnBatch& batch : e.drawn) drawn[batch.path].push_back(&batch);
    if (e.charges.empty() || !e.asked.secret) continue;
    const LedgerEntry& entry = e.charges.back();
    if (!entry.event || !amplifying_rate(*entry.event)) continue;
    // One that nobody drew is complained of where batches are drawn again.
    bool known = false, fits = false;
    for (const DrawnBatch* batch : drawn[e.what.path])
      if (batch->members == *e.asked.secret) {
        known = true;
        fits = fits || is_charged_so(*batch, entry);
      }
    if (known && !fits)
      return fmt::format(
          "{}: sampling at rate {:.6g} of records {} to {} is charged, another was drawn",
          place_of(transcript, k), *amplifying_rate(*entry.event), entry.charged.begin,
          entry.charged.end - 1);
  }
  return {};
}

std::string unpaid(const Transcript& transcript, std::int64_t free) {
  std::int64_t count = 0;
  for (const Exchange& e : transcript)
    if (is_sum(e.what.kind) && e.noisy.size() > 0 && e.what.deviation > 0 && e.charges.empty())
      ++count;
  if (count == free) return {};
  return fmt::format("{} answers are not paid for, {} of two equal points or of no vector", count,
                     free);
}

std::string overdrawn(const Ledger& ledger, const FilterRule& rule) {
  std::map<Index, double> steps;  // of the sum of charges, by record
  std::map<Index, double> pure;
  std::optional<std::pair<Event, double>> last;
  for (const LedgerEntry& e : ledger.entries()) {
    if (!e.event) continue;
    auto& account = e.pure ? pure : steps;
    if (!last || !(last->first == *e.event) || e.pure)
      last.emplace(*e.event, e.pure ? 0.0 : rule.charge(*e.event));
    const double each = e.pure ? pure_epsilon(*e.event).value_or(0.0) : last->second;
    const double amount = each * static_cast<double>(e.count);
    if (e.pure) last.reset();
    account[e.charged.begin] += amount;
    account[e.charged.end] -= amount;
  }
  // What a whole budget is exchanged for is pure alone.
  const double most_pure = std::max(rule.pure_capacity, rule.alone_epsilon);
  for (const auto& [account, capacity] : {std::pair(&steps, rule.capacity), {&pure, most_pure}}) {
    double sum = 0;
    for (const auto& [record, step] : *account) {
      sum += step;
      if (sum > capacity * (1 + 1e-9))
        return fmt::format("record {} is charged {:.9g} of {:.9g} that the filter keeps", record,
                           sum, capacity);
    }
  }
  return {};
}

std::string wide_rule(const FilterRule& rule, const PrivacyBudget& claimed) {
  try {
    check(rule, claimed);
    return {};
  } catch (const InputError& refused) {
    return refused.what();
  }
}

}  // namespace dpsosp::audit
