// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/work_meter.hpp"
#include "noise/noise_check.hpp"
#include "replay/conduct.hpp"
#include "replay/returned.hpp"
#include "replay/sensitivity.hpp"
#include "replay/sums.hpp"
#include "subjects/instances.hpp"
#include "subjects/mechanisms.hpp"
#include "subjects/stand_ins.hpp"

namespace dpsosp {
namespace {

using namespace audit;

/// Two records of which the neighbours hold one each.
struct Pair {
  std::string name;
  Index place = 0;
  std::shared_ptr<const AnyRecords> one, two;
};

/// Records that an attacker tries: first, middle and last, and one of each of some batches that
/// a first run reads, which are not all charged alike.
std::vector<Index> places_of(const Subject& subject) {
  constexpr std::size_t most = 8;
  const AnyRecords& records = *subject.problem->records;
  const Neighbour same(records, 0, one_of(records, 0));
  record(subject, same, 1, Plant::none);
  const std::vector<Index> read = same.batches_read();
  const Index last = records.size() - 1;
  std::vector<Index> places{0, last / 2, last};
  for (std::size_t k = 0; k < std::min(most, read.size()); ++k)
    places.push_back(read[k * read.size() / std::min(most, read.size())]);
  return places;
}

/// Random neighbours, and an attacker's.
std::vector<Pair> pairs_of(const Subject& subject) {
  const AnyRecords& records = *subject.problem->records;
  const Index last = records.size() - 1;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Pair> pairs;
  for (const Index place : places_of(subject))
    pairs.push_back({"100 times the limit, opposite", place, saturating(records, 100.0),
                     saturating(records, -100.0)});
  for (const auto& [name, direction] : {std::pair("along one coordinate", Direction::first),
                                        {"of alternating sign", Direction::alternating},
                                        {"at one point of eight", Direction::seldom}})
    pairs.push_back({fmt::format("100 times the limit {}, opposite", name), 0,
                     saturating(records, 100.0, direction),
                     saturating(records, -100.0, direction)});
  const auto exchange = [&](std::string name, Index place,
                            std::shared_ptr<const AnyRecords> record) {
    pairs.push_back({std::move(name), place, one_of(records, place), std::move(record)});
  };
  exchange("another record", 0, one_of(*subject.other->records, 0));
  exchange("another record", last, one_of(*subject.other->records, last));
  exchange("flipped", 0, scaled(one_of(records, 0), -1.0));
  exchange("zero", last / 3, scaled(one_of(records, last / 3), 0.0));
  exchange("100 times as long", 0, scaled(one_of(records, 0), 100.0));
  exchange("flipped, 1e6 times as long", last, scaled(one_of(records, last), -1e6));
  exchange("a duplicate", 1, one_of(records, 2));
  exchange("not finite", 0, saturating(records, nan));
  pairs.push_back(
      {"zero, 100 times the limit", 0, saturating(records, 0.0), saturating(records, 100.0)});
  // Corners of what the problem's records may be; with a dual per record they have another one.
  if (subject.problem->extremes && subject.problem->facts.dual_kind != DualKind::per_record)
    for (Index k = 0; k < std::min<Index>(4, subject.problem->extremes->size()); ++k)
      exchange("a corner of the data", k, one_of(*subject.problem->extremes, k));
  return pairs;
}

/// Failures of one property: their number, and the first one in words.
class Failures {
 public:
  void see(const std::string& complaint, const std::string& where) {
    if (complaint.empty()) return;
    if (count_++ == 0) first_ = where + ": " + complaint;
  }
  Index count() const { return count_; }
  CheckLine line(std::string property, std::string summary) const {
    return {std::move(property), count_ == 0,
            count_ == 0 ? std::move(summary) : fmt::format("{} times; {}", count_, first_)};
  }

 private:
  Index count_ = 0;
  std::string first_;
};

class ReplayAttack {
 public:
  /// \param own  one of the audit's own mechanisms, which counts its free questions
  ReplayAttack(ReplayAudit& result, Plant bug, std::uint32_t seed, bool own)
      : result_(result), bug_(bug), seed_(seed), own_(own), noise_(seed) {}

  void attack(const Subject& subject, bool until_caught) {
    ++result_.instances;
    first_of_instance_ = true;
    const auto pairs = pairs_of(subject);
    plan_work(std::ssize(pairs));
    for (const Pair& pair : pairs) {
      if (until_caught && result_.first_caught > 0) return;
      ++result_.pairs;
      attack(subject, pair, fmt::format("{}, {}", subject.name, pair.name));
      if (result_.first_caught == 0 && caught(until_caught)) result_.first_caught = result_.pairs;
      do_work();
    }
  }

  NoiseNumbers noise() const { return noise_.numbers(); }
  std::vector<CheckLine> lines() const {
    Failures noise, choices, batches;
    noise.see(noise_.complaint(), "all instances");
    choices.see(choices_.complaint(), "all instances");
    batches.see(batches_.complaint(), "all instances");
    const std::string compared = fmt::format("{} answers", result_.answers);
    return {questions_.line("the same releases lead to the same questions", compared),
            charges_.line("and to the same charges", compared),
            moves_.line("an answer moves by no more than is charged for",
                        fmt::format("up to {:.4f} of it", result_.attained)),
            spent_.line("the charges add up to no more than the claimed epsilon",
                        fmt::format("up to {:.4f} of it", most_spent_)),
            conduct_.line(
                "no answer reads uncharged records, comes after a session's end or is not paid for",
                compared),
            bits_.line(
                "noise, choices and batches are the next of their streams, drawn again bit for bit",
                compared),
            noise.line("noise has the law that is charged for, independent each time",
                       noise_.summary()),
            choices.line("choices have the probabilities that are charged for", choices_.summary()),
            batches.line("secret batches are drawn as their sampling says", batches_.summary()),
            shown_.line("output, status, counts, ledger and iterates are the same",
                        fmt::format("{} pairs of runs", result_.pairs))};
  }

 private:
  bool caught(bool by_laws) const {
    if (questions_.count() + charges_.count() + moves_.count() + spent_.count() + conduct_.count() +
            bits_.count() + shown_.count() >
        0)
      return true;
    return by_laws && (!noise_.complaint().empty() || !choices_.complaint().empty() ||
                       !batches_.complaint().empty());
  }

  void attack(const Subject& subject, const Pair& pair, const std::string& where) {
    const Neighbour one(*subject.problem->records, pair.place, pair.one);
    const Neighbour two(*subject.problem->records, pair.place, pair.two);
    // Apart from those of the statistical attack.
    const auto seed =
        (std::uint64_t{seed_} << 32) + (1U << 31) + static_cast<std::uint64_t>(result_.pairs);
    const Recorded first = record(subject, one, seed, bug_);
    const Replayed second = replay(subject, first, two, seed, bug_);
    result_.answers += std::ssize(second.answers);
    questions_.see(second.difference, where);
    charges_.see(second.charge_difference, where);
    bits_.see(first.other_noise, where);
    bits_.see(second.other_noise, where);
    if (!(first.shown == second.shown)) shown_.see(difference_of(first.shown, second.shown), where);
    const std::vector<std::string> names = queries_of(first.transcript);
    for (std::size_t k = 0; k < second.answers.size(); ++k) ++result_.queries[names[k]].answers;
    Sensitivity(first.transcript, pair.place, [&](double moved, double allowed, std::size_t k) {
      const double rounding = 1e-13 * (1.0 + first.transcript[k].answer.norm());
      if (!(moved <= allowed * (1 + 1e-9) + rounding))
        moves_.see(fmt::format("{} moves by {:.6g}, the charge allows {:.6g}",
                               place_of(first.transcript, k), moved, allowed),
                   where);
      if (!(allowed > 1e3 * rounding)) return;
      double& of_query = result_.queries[names[k]].attained;
      of_query = std::max(of_query, moved / allowed);
      result_.attained = std::max(result_.attained, of_query);
    }).compare(second.answers);
    const bool first_of_instance = std::exchange(first_of_instance_, false);
    if (subject.claimed && first_of_instance) {
      const auto [epsilon, delta] = *subject.claimed;
      const double spent = first.ledger.spent(delta).epsilon;
      most_spent_ = std::max(most_spent_, spent / epsilon);
      if (!(spent <= epsilon * (1 + 1e-9)))
        spent_.see(fmt::format("epsilon {:.6g} of {:.6g}", spent, epsilon), where);
    }
    if (first_of_instance && subject.claimed)
      conduct_.see(wide_rule(subject.rule, *subject.claimed), where);
    if (first_of_instance) conduct_.see(overdrawn(first.ledger, subject.rule), where);
    conduct_.see(stray_read(first.transcript), where);
    conduct_.see(late_question(first.transcript), where);
    conduct_.see(other_sampling(first.transcript), where);
    if (own_) {
      const nlohmann::json& counts = first.shown.result["counts"];
      conduct_.see(unpaid(first.transcript, counts["free"].get<std::int64_t>()), where);
      if (counts["other_threads"] != 0)
        conduct_.see("questions of another thread than the curator's are answered", where);
    }
    if (first_of_instance && bug_ == Plant::none) {
      const Shown alone = unwatched(subject, one, seed);
      if (!(alone == first.shown))
        shown_.see("without an auditor " + difference_of(alone, first.shown), where);
    }
    noise_.see(first.transcript, stream_of(subject, seed));
    choices_.see(first.transcript);
    batches_.see(first.transcript);
  }

  static std::string difference_of(const Shown& a, const Shown& b) {
    for (const auto& [key, value] : a.result.items())
      if (!b.result.contains(key) || b.result.at(key) != value)
        return fmt::format("{} differs", key);
    return a.result == b.result ? "an iterate differs" : "the result differs";
  }

  ReplayAudit& result_;
  Plant bug_;
  std::uint32_t seed_;
  bool own_;
  Failures questions_, charges_, moves_, spent_, conduct_, bits_, shown_;
  bool first_of_instance_ = false;
  double most_spent_ = 0;
  NoiseCheck noise_;
  ChoiceCheck choices_;
  BatchCheck batches_;
};

}  // namespace

ReplayAudit audit_replay(std::string_view algorithm, const ReplayOptions& options) {
  find_audited(algorithm);
  ReplayAudit result;
  ReplayAttack attack(result, options.plant.empty() ? Plant::none : find_plant(options.plant).plant,
                      options.seed, is_mechanism(algorithm));
  const std::vector<Subject> subjects =
      options.problem.empty()
          ? replay_subjects(algorithm)
          : replay_subjects(algorithm, options.problem, options.problem_settings);
  const std::size_t all = subjects.size();
  const std::size_t taken = options.most_instances == 0
                                ? all
                                : std::min(all, static_cast<std::size_t>(options.most_instances));
  for (std::size_t k = 0; k < taken; ++k) {
    if (options.until_caught && result.first_caught > 0) break;
    attack.attack(subjects[k * all / taken], options.until_caught);
  }
  result.noise = attack.noise();
  result.checks = attack.lines();
  if (!options.problem.empty()) {
    constexpr double tolerance = 1e-3;  // of networks, in single precision
    const double distance = furthest_sum(*subjects.front().problem, 16);
    result.checks.push_back({"a clipped sum over a batch is the sum over its records",
                             distance <= tolerance,
                             fmt::format("to {:.2g} of the limit a record", distance)});
  }
  if (options.plant.empty() && !is_mechanism(algorithm) &&
      !find_algorithm(algorithm)->card().is_program()) {
    const std::string other =
        complaint_of_result(algorithm, [](const RunDescription& run) { return compute_run(run); });
    result.checks.push_back({"what a run returns is what its algorithm returned", other.empty(),
                             other.empty() ? "one run computed twice" : other});
  }
  result.checks.push_back(
      {"there is something to compare", result.answers > 0,
       fmt::format("{} instances, {} pairs of neighbours", result.instances, result.pairs)});
  result.passed = std::ranges::all_of(result.checks, &CheckLine::passed);
  return result;
}

const std::vector<AuditPlant>& audit_plants() {
  static const std::vector<AuditPlant> all = [] {
    std::vector<AuditPlant> list;
    for (const PlantEntry& p : plant_registry())
      list.push_back({std::string(p.name), std::string(p.wrong), std::string(p.host)});
    return list;
  }();
  return all;
}

std::vector<std::string> audited_algorithms() {
  std::vector<std::string> keys;
  for (const AlgorithmEntry& entry : algorithm_registry())
    if (entry.create()->card().is_private()) keys.push_back(entry.key);
  std::ranges::copy(mechanism_keys(), std::back_inserter(keys));
  return keys;
}

}  // namespace dpsosp
