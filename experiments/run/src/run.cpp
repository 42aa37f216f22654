// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/run.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/numbers.hpp"
#include "dpsosp/evaluator/trace.hpp"
#include "dpsosp/experiments/run_follower.hpp"
#include "dpsosp/isolation/guest_process.hpp"
#include "dpsosp/privacy/accounting/renyi.hpp"
#include "dpsosp/privacy/query.hpp"
#include "opening.hpp"
#include "run_parts.hpp"
#include "run_setup.hpp"

namespace dpsosp {
namespace {

constexpr Index stored_point_limit = 4096;  // a longer output is not stored with the result

class Recorder final : public Observer {
 public:
  Recorder(const ObservationPlan& plan, Index dimension, RunFollower* follower,
           const Objective& objective)
      : trace(plan),
        estimates_(plan.uniform, 1),
        pair_(2 * dimension),
        follower_(follower),
        objective_(objective) {}
  void iterate(Index t, ConstVectorRef x) override {
    trace.see(t, x);
    if (follower_ != nullptr) follower_->step(t, x, &objective_);
  }
  void estimate(Index t, ConstVectorRef x, ConstVectorRef gradient) override {
    if (x.size() + gradient.size() != pair_.size()) return;  // of a projected view
    pair_ << x, gradient;
    estimates_.see(t, pair_);
  }
  TraceRecorder trace;

  /// None without estimates. \throws RunFailed for one that is not finite
  std::optional<EstimateErrors> estimate_errors(const Objective& objective) const {
    std::vector<double> errors;
    const Index d = objective.dimension();
    Vector gradient(d);
    for (const auto& [t, pair] : estimates_.points()) {
      objective.gradient(pair.head(d), gradient);
      errors.push_back((pair.tail(d) - gradient).norm());
      if (!std::isfinite(errors.back()))
        throw RunFailed(fmt::format("estimate at t = {}: its error is not finite", t));
    }
    if (errors.empty()) return {};
    std::ranges::sort(errors);
    return EstimateErrors{
        .seen = errors.size(), .median = errors[errors.size() / 2], .largest = errors.back()};
  }

 private:
  ThinnedPoints estimates_;
  Vector pair_;
  RunFollower* follower_;
  const Objective& objective_;
};

class Blind final : public Observer {
 public:
  explicit Blind(RunFollower* follower) : follower_(follower) {}
  void iterate(Index t, ConstVectorRef x) override {
    if (follower_ != nullptr) follower_->step(t, x, nullptr);
  }

 private:
  RunFollower* follower_;
};

void tell_begin(const Setup& s, RunFollower* follower) {
  if (follower == nullptr) return;
  const auto parameters = s.actor->parameters();
  const auto steps = parameters.find("steps");
  follower->begin(steps == parameters.end() ? std::nullopt : whole_number(steps->second));
}

/// Differing charges of each record, over records that are charged differently, beyond the first
/// time: what accounting takes time by, half a microsecond each, and a millisecond where it is
/// amplified.
double repeated_accounting(const Ledger& ledger) {
  std::map<Index, double> changes;  // at the first record of a range, and behind its last
  std::set<std::tuple<Index, Index, bool, std::size_t, double>> seen;
  double repeated = 0, active = 0;
  for (const LedgerEntry& e : ledger.entries()) {
    if (!e.event) continue;
    const double cost = rdp(*e.event, 2.0, Adjacency::replace_one);  // of equal events the same
    if (!seen.emplace(e.charged.begin, e.charged.end, e.pure, e.event->index(), cost).second)
      continue;
    const double work = without_amplification(*e.event) != *e.event ? 2000 : 1;
    changes[e.charged.begin] += work;
    changes[e.charged.end] -= work;
    repeated -= work;
  }
  for (const auto& [at, change] : changes) repeated += active += change;
  return repeated;
}

/// Some ten seconds, beside what the charges would take if all were to the same records.
constexpr double most_repeated = 1 << 24;

/// \param isolated  whoever wrote the guest, the reason of a failure says what was spent
RunFailed failure(const std::string& reason, const Curator& curator, double delta, bool isolated) {
  if (!isolated) return RunFailed(reason);
  const Ledger ledger = curator.ledger();
  if (repeated_accounting(ledger) > most_repeated)
    return RunFailed(fmt::format("{}; {} queries had spent what takes too long to account for",
                                 reason, ledger.queries()));
  return RunFailed(fmt::format("{}; {} queries had spent epsilon {:.6g} at delta {:.6g}", reason,
                               ledger.queries(), ledger.spent(delta).epsilon, delta));
}

/// Part of a guest's failure that may be shown.
enum class Telling { all, as_of_release };

RunFailed told(const GuestFailed& e, Telling telling) {
  return RunFailed(telling == Telling::all ? e.what() : e.reason());
}

Setup set_up(const RunDescription& d, const std::optional<Isolation>& isolation, Telling telling) {
  try {
    return set_up(d, isolation);
  } catch (const GuestFailed& e) {
    throw told(e, telling);
  }
}

Outcome run_algorithm(const Setup& s, Curator& curator, double delta, const StreamKey& key,
                      Observer& observer, Telling telling) {
  const bool isolated = s.actor->isolated();
  const auto failed = [&](const std::string& reason) {
    return failure(reason, curator, delta, isolated);
  };
  Outcome outcome;
  try {
    outcome = s.actor->run(curator, key, observer);
  } catch (const GuestFailed& e) {
    throw failed(told(e, telling).what());
  } catch (const std::bad_alloc&) {
    if (!isolated) throw;
    throw failed("out of memory");
  } catch (const InputError& e) {
    // The first query refuses what was asked for; a later one, where the run has come to.
    if (curator.ledger().queries() <= (isolated ? 0 : 1)) throw;
    throw failed(e.what());
  }
  if (isolated && repeated_accounting(curator.ledger()) > most_repeated)
    throw failed(
        "isolated run: too many differing charges to too many differing ranges of records");
  if (outcome.status == Status::not_finite)
    throw failed(fmt::format("not_finite: an iterate is not finite after {} steps", outcome.steps));
  return outcome;
}

EvaluationLog evaluation_log(const ClipLog& log, Door door) {
  EvaluationLog seen{.contributions = log.contributions,
                     .clipped = log.clipped,
                     .largest_norm_over_limit = log.largest_norm,
                     .estimate_error = {},
                     .estimates_out_of_range = {},
                     .unclipped = {}};
  if (log.estimates > 0)
    seen.estimates_out_of_range =
        static_cast<double>(log.out_of_range) / static_cast<double>(log.estimates);
  if (door == Door::no_clipping)
    seen.unclipped = {.violations = log.violations,
                      .largest_norm_over_nominal = log.largest_over_nominal,
                      .first_violation = log.first_violation,
                      .unseen = log.unseen};
  return seen;
}

std::vector<double> entries_of(const Vector& point) { return {point.begin(), point.end()}; }

/// Evaluates the points of the run. \throws RunFailed for values that are not finite
void evaluate(const Setup& s, const RunDescription& d, const Outcome& outcome,
              const Recorder& recorder, RunResult& r) {
  const PublicFacts& facts = s.problem.facts;
  const Objective& objective = s.problem.objective();
  r.start = certificate_of(s.problem, objective, facts.initial_point, d.seed);
  r.origin = facts.initial_point.isZero(0.0)
                 ? r.start
                 : certificate_of(s.problem, objective, Vector::Zero(facts.dimension), d.seed);
  r.output = certificate_of(s.problem, objective, outcome.point, d.seed);
  r.minimum = minimum_of(s.problem, objective);
  r.evaluation_log.estimate_error = recorder.estimate_errors(objective);
  if (s.problem.empirical && s.problem.population) {
    const Objective& population = *s.problem.population;
    r.population = {.start = certificate_of(s.problem, population, facts.initial_point, d.seed),
                    .output = certificate_of(s.problem, population, outcome.point, d.seed),
                    .minimum = minimum_of(s.problem, population)};
  }
  if (d.observations > 0) {
    const auto trace =
        recorder.trace.evaluate(objective, hessian_lipschitz(facts),
                                {.key = {.seed = d.seed, .purpose = Purpose::evaluation}});
    r.trace = trace_rows(trace);
    if (const auto k = best(trace)) r.best = (*r.trace)[*k];
  }
}

RunResult run_result(const RunDescription& d, const std::optional<Isolation>& isolation,
                     RunFollower* follower) {
  const Setup s = set_up(d, isolation, Telling::all);
  const PublicFacts& facts = s.problem.facts;
  ClipLog log;
  const StreamKey key = key_of(d);
  Curator curator = open(s.problem, s.told, s.scheduled.rule, d.door, key, log);
  ObservationPlan plan;
  plan.uniform = std::max<Index>(2, d.observations);
  plan.per_decade = 0;
  Recorder recorder(plan, facts.dimension, follower, s.problem.objective());
  tell_begin(s, follower);
  const Outcome outcome = run_algorithm(s, curator, d.delta, key, recorder, Telling::all);
  if (follower != nullptr) follower->end();

  RunResult r;
  r.algorithm = algorithm_result(s, outcome, curator.ledger());
  r.schedule = schedule_result(s.scheduled);
  r.privacy = privacy_result(curator, d, s.scheduled, log);
  r.evaluation_log = evaluation_log(log, d.door);
  if (facts.dimension <= stored_point_limit) r.point = entries_of(outcome.point);
  try {
    evaluate(s, d, outcome, recorder, r);
  } catch (const RunFailed& e) {
    throw failure(e.what(), curator, d.delta, s.actor->isolated());
  }
  return r;
}

Release run_release(const RunDescription& d, const std::optional<Isolation>& isolation,
                    RunFollower* follower) {
  const Setup s = set_up(d, isolation, Telling::as_of_release);
  ClipLog log;
  const StreamKey key = key_of(d);
  ReleaseCurator curator = open_release(s.problem, s.told, s.scheduled.rule, d, key, log);
  Blind unseen(follower);
  tell_begin(s, follower);
  const auto spent = [&](const std::string& reason) {
    const auto queries = curator.ledger().queries();
    return RunFailed(
        fmt::format("{} (after {}, whose privacy cost is spent although nothing is released)",
                    reason, queries == 1 ? "1 query" : fmt::format("{} queries", queries)));
  };
  const Outcome outcome = [&] {
    try {
      return run_algorithm(s, curator, d.delta, key, unseen, Telling::as_of_release);
    } catch (const RunFailed& e) {
      throw spent(e.what());
    } catch (const InputError& e) {
      if (curator.ledger().queries() == 0) throw;
      throw spent(e.what());
    }
  }();
  if (follower != nullptr) follower->end();
  Release r{.algorithm = algorithm_result(s, outcome, curator.ledger()),
            .schedule = schedule_result(s.scheduled),
            .privacy = privacy_result(curator, d, s.scheduled, log),
            .point = entries_of(outcome.point)};
  r.privacy.noise = "discrete Gaussian, system entropy";
  return r;
}

}  // namespace

RunResult compute_run(const RunDescription& d, const std::optional<Isolation>& isolation) {
  return run_result(d, isolation, nullptr);
}

RunResult compute_run(const RunDescription& d, const std::optional<Isolation>& isolation,
                      RunFollower& follower) {
  return run_result(d, isolation, &follower);
}

Release compute_release(const RunDescription& d, const std::optional<Isolation>& isolation) {
  return run_release(d, isolation, nullptr);
}

Release compute_release(const RunDescription& d, const std::optional<Isolation>& isolation,
                        RunFollower& follower) {
  return run_release(d, isolation, &follower);
}

Certificate certify_point(const RunSpec& spec, const std::string& point) {
  const auto family = make_family(spec.problem, spec.problem_settings);
  const Problem p = family->make(instance_of(spec, *family));
  Vector x = p.facts.initial_point;
  if (point == "origin") {
    x.setZero();
  } else if (point != "initial") {
    std::vector<double> entries;
    try {
      entries = nlohmann::json::parse(point).get<std::vector<double>>();
    } catch (const nlohmann::json::exception&) {
      constexpr std::size_t shown = 60;
      throw InputError(
          fmt::format("certify: point = {}{}, expected initial, origin or a JSON array "
                      "of numbers",
                      point.substr(0, shown), point.size() > shown ? "..." : ""));
    }
    if (std::ssize(entries) != p.facts.dimension)
      reject("certify", "point", fmt::format("{} numbers", entries.size()),
             fmt::format("{} numbers, the dimension of {}", p.facts.dimension, spec.problem));
    x = Eigen::Map<const Vector>(entries.data(), std::ssize(entries));
  }
  return certificate_of(p, p.objective(), x, spec.seed);
}

}  // namespace dpsosp
