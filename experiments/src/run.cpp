// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/evaluator/trace.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/privacy/release_curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "run_json.hpp"
#include "run_setup.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr Index stored_point_limit = 4096;  // a longer output is not stored with the result

Curator open_door(const Setup& s, const StreamKey& key, ClipLog& log) {
  const PublicFacts& facts = s.told;
  if (s.door == Door::enforced) return {facts, *s.problem.records, s.scheduled.rule, key, &log};
  UnsoundCurator::Departures departures;
  departures.no_noise = s.door == Door::no_noise || s.door == Door::not_private;
  departures.no_data = s.door == Door::no_data;
  departures.no_clipping = s.door == Door::not_private || s.door == Door::no_clipping;
  departures.clip_batch_mean = s.door == Door::batch_mean_clip;
  departures.realised_divisor = departures.resample_empty = s.door == Door::script;
  return UnsoundCurator(facts, *s.problem.records, key, departures, &log);
}

class Recorder final : public Observer {
 public:
  Recorder(const ObservationPlan& plan, Index dimension)
      : trace(plan), estimates_(plan.uniform, 1), pair_(2 * dimension) {}
  void iterate(Index t, ConstVectorRef x) override { trace.see(t, x); }
  void estimate(Index t, ConstVectorRef x, ConstVectorRef gradient) override {
    if (x.size() + gradient.size() != pair_.size()) return;  // of a projected view
    pair_ << x, gradient;
    estimates_.see(t, pair_);
  }
  TraceRecorder trace;

  /// ‖g_t − ∇F(x_t)‖ over the steps that were kept: count, median, max; null without estimates.
  json estimate_errors(const Objective& objective) const {
    std::vector<double> errors;
    const Index d = objective.dimension();
    Vector gradient(d);
    for (const auto& [t, pair] : estimates_.points()) {
      objective.gradient(pair.head(d), gradient);
      errors.push_back((pair.tail(d) - gradient).norm());
    }
    if (errors.empty()) return nullptr;
    std::ranges::sort(errors);
    return {{"seen", errors.size()},
            {"median", to_json_number(errors[errors.size() / 2])},
            {"largest", to_json_number(errors.back())}};
  }

 private:
  ThinnedPoints estimates_;
  Vector pair_;
};

class Blind final : public Observer {
 public:
  void iterate(Index /*t*/, ConstVectorRef /*x*/) override {}
};

Outcome run_algorithm(const Setup& s, Curator& curator, StreamKey key, Observer& observer) {
  key.purpose = Purpose::algorithm;
  Outcome outcome;
  try {
    outcome = s.algorithm->run(curator, Stream(key), observer);
  } catch (const InputError& e) {
    // The first query refuses what was asked for; a later one, where the run has come to.
    if (curator.ledger().queries() <= 1) throw;
    throw RunFailed(e.what());
  }
  if (outcome.status == Status::not_finite)
    throw RunFailed(
        fmt::format("not_finite: an iterate is not finite after {} steps", outcome.steps));
  return outcome;
}

std::vector<double> entries_of(const Vector& point) { return {point.begin(), point.end()}; }

}  // namespace

json compute_run(const json& d) {
  const Setup s = set_up(d);
  const PublicFacts& facts = s.problem.facts;
  const std::uint64_t seed = d.at("seed");
  ClipLog log;
  const StreamKey key = key_of(d);
  Curator curator = open_door(s, key, log);
  const Index observations = d.at("observations");
  ObservationPlan plan;
  plan.uniform = std::max<Index>(2, observations);
  plan.per_decade = 0;
  Recorder recorder(plan, facts.dimension);
  const Outcome outcome = run_algorithm(s, curator, key, recorder);

  const json start = certificate_json(s.problem, facts.initial_point, seed);
  json result{{"algorithm", algorithm_json(s, outcome, curator.ledger())},
              {"schedule", schedule_json(s.scheduled)},
              {"privacy", privacy_json(curator, d, s.scheduled, log)},
              {"start", start},
              {"origin",
               facts.initial_point.isZero(0.0)
                   ? start
                   : certificate_json(s.problem, Vector::Zero(facts.dimension), seed)},
              {"output", certificate_json(s.problem, outcome.point, seed)},
              {"minimum", minimum_json(s.problem, s.problem.objective())},
              {"evaluation_log",
               {{"private", false},
                {"contributions", log.contributions},
                {"clipped", log.clipped},
                {"largest_norm_over_limit", to_json_number(log.largest_norm)}}}};
  if (s.problem.empirical && s.problem.population) {
    const Objective& population = *s.problem.population;
    result["population"] = {
        {"start", certificate_json(s.problem, population, facts.initial_point, seed)},
        {"output", certificate_json(s.problem, population, outcome.point, seed)},
        {"minimum", minimum_json(s.problem, population)}};
  }
  if (json errors = recorder.estimate_errors(s.problem.objective()); !errors.is_null())
    result["evaluation_log"]["estimate_error"] = std::move(errors);
  if (log.estimates > 0)
    result["evaluation_log"]["estimates_out_of_range"] =
        static_cast<double>(log.out_of_range) / static_cast<double>(log.estimates);
  if (s.door == Door::no_clipping) {
    json& seen = result["evaluation_log"];
    seen["violations"] = log.violations;
    seen["largest_norm_over_nominal"] = to_json_number(log.largest_over_nominal);
    seen["first_violation"] = log.first_violation;
    seen["unseen"] = log.unseen;
  }
  if (facts.dimension <= stored_point_limit) result["point"] = entries_of(outcome.point);
  if (observations > 0) {
    const auto trace =
        recorder.trace.evaluate(s.problem.objective(),
                                hessian_lipschitz(facts),
                                {.key = {.seed = seed, .purpose = Purpose::evaluation}});
    result["trace"] = trace_json(trace);
    if (const auto k = best(trace)) result["best"] = result["trace"][*k];
  }
  return result;
}

json compute_release(const json& d) {
  const Setup s = set_up(d);
  if (s.door != Door::enforced)
    throw InputError(
        fmt::format("release: {} as described runs behind the door `{}`, which enforces no privacy",
                    d.at("algorithm").get<std::string>(),
                    name_of(s.door)));
  ClipLog log;
  const StreamKey key = key_of(d);
  ReleaseCurator curator(
      s.told, *s.problem.records, s.scheduled.rule, key, std::make_unique<SystemEntropy>(), &log);
  Blind unseen;
  const Outcome outcome = [&] {
    try {
      return run_algorithm(s, curator, key, unseen);
    } catch (const RunFailed& e) {
      throw RunFailed(
          fmt::format("{} (after {} queries; what they cost is spent, although nothing "
                      "is released)",
                      e.what(),
                      curator.ledger().queries()));
    }
  }();
  json result{{"algorithm", algorithm_json(s, outcome, curator.ledger())},
              {"schedule", schedule_json(s.scheduled)},
              {"privacy", privacy_json(curator, d, s.scheduled, log)},
              {"point", entries_of(outcome.point)}};
  result["privacy"]["noise"] = "discrete Gaussian, system entropy";
  return result;
}

json certify_point(const std::string& problem,
                   const std::map<std::string, std::string>& problem_settings,
                   Index records,
                   std::optional<Index> dimension,
                   std::uint64_t seed,
                   std::uint64_t data_seed,
                   const std::string& point) {
  const auto family = make_family(problem, problem_settings);
  const Problem p = family->make({.records = records == 0 ? family->default_records() : records,
                                  .dimension = dimension,
                                  .seed = seed,
                                  .data_seed = data_seed});
  Vector x = p.facts.initial_point;
  if (point == "origin") {
    x.setZero();
  } else if (point != "initial") {
    std::vector<double> entries;
    try {
      entries = json::parse(point).get<std::vector<double>>();
    } catch (const json::exception&) {
      throw InputError("certify: point = " + point +
                       ", expected initial, origin or a JSON array of numbers");
    }
    if (std::ssize(entries) != p.facts.dimension)
      reject("certify",
             "point",
             fmt::format("{} numbers", entries.size()),
             fmt::format("{} numbers, the dimension of {}", p.facts.dimension, problem));
    x = Eigen::Map<const Vector>(entries.data(), std::ssize(entries));
  }
  return certificate_json(p, x, seed);
}

}  // namespace dpsosp
