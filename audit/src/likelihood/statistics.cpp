// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/work_meter.hpp"
#include "likelihood/bounds.hpp"
#include "likelihood/likelihood.hpp"
#include "noise/noise_check.hpp"
#include "subjects/instances.hpp"
#include "subjects/stand_ins.hpp"

namespace dpsosp {
namespace {

using namespace audit;

/// Grows with what an event costs; to compare runs of one algorithm.
struct Cost {
  double operator()(const GaussianEvent& e) const { return std::pow(e.noise_multiplier, -2); }
  double operator()(const PoissonGaussianEvent& e) const {
    return std::pow(e.rate / e.noise_multiplier, 2);
  }
  double operator()(const FixedSizeGaussianEvent& e) const {
    return std::pow(e.rate / e.noise_multiplier, 2);
  }
  double operator()(const ZcdpEvent& e) const { return e.rho; }
  template <class Pure>
  double operator()(const Pure& e) const {
    return e.epsilon * e.epsilon;
  }
};

std::vector<CountedEvent> charged_to(const Ledger& ledger, Index place) {
  std::vector<CountedEvent> events;
  for (const LedgerEntry& e : ledger.entries())
    if (e.event && place >= e.charged.begin && place < e.charged.end)
      events.push_back({*e.event, e.count});
  return events;
}

double cost_of(const std::vector<CountedEvent>& events) {
  double cost = 0.0;
  for (const CountedEvent& e : events)
    cost += static_cast<double>(e.count) * std::visit(Cost{}, e.event);
  return cost;
}

/// The same record of both data sets answers with 100 times the limit, in opposite directions.
class Attack {
 public:
  Attack(const Subject& subject, Plant bug, std::uint32_t seed)
      : subject_(subject),
        bug_(bug),
        seed_(seed),
        one_(saturating(*subject.problem->records, 100.0)),
        two_(saturating(*subject.problem->records, -100.0)),
        others_(others_of(subject)) {
    place_ = dearest_place();
  }

  struct Scores {
    std::vector<double> one, two;
    std::vector<CountedEvent> dearest;  ///< charges of the run that cost most
    double answers = 0;
    std::string other_noise;  ///< the first that is not drawn again alike
    NoiseCheck noise;
    ChoiceCheck choices;
    BatchCheck batches;
    /// What the tests of goodness of fit complain of; empty if all is well.
    std::string complaint() const {
      std::string text = noise.complaint();
      if (text.empty()) text = other_noise;
      if (text.empty()) text = choices.complaint();
      return text.empty() ? batches.complaint() : text;
    }
  };

  /// With the tests of goodness of fit, which an attack for its power alone does without.
  enum class Laws { tested, untested };
  Scores scores(Index runs, Laws laws) const {
    const auto n = static_cast<std::size_t>(runs);
    plan_work(2 * runs);
    Scores scores;
    scores.noise = NoiseCheck(seed_);
    double dearest = -1.0;
    // Few at a time: a run that chooses among many candidates has a long transcript.
    std::vector<Run> block(std::min<std::size_t>(
        2 * n, 4 * static_cast<std::size_t>(tbb::this_task_arena::max_concurrency())));
    for (std::size_t begin = 0; begin < 2 * n; begin += block.size()) {
      block.resize(std::min(block.size(), 2 * n - begin));
      tbb::this_task_arena::isolate([&] {  // no other audit is begun while this one waits
        tbb::parallel_for(std::size_t{0}, block.size(), [&](std::size_t k) {
          block[k] = run((begin + k) % 2 == 0, seed_of(begin + k), laws);
          do_work();
        });
      });
      for (std::size_t k = 0; k < block.size(); ++k) {
        Run& one = block[k];
        ((begin + k) % 2 == 0 ? scores.one : scores.two).push_back(one.score);
        if (laws == Laws::tested) {
          scores.noise.see(one.transcript, stream_of(subject_, seed_of(begin + k)));
          if (scores.other_noise.empty()) scores.other_noise = one.other_noise;
          scores.choices.see(one.transcript);
          scores.batches.see(one.transcript);
        }
        scores.answers += static_cast<double>(one.transcript.size()) / (2 * static_cast<double>(n));
        if (const double cost = cost_of(one.events); cost > dearest) {
          dearest = cost;
          scores.dearest = std::move(one.events);
        }
      }
    }
    return scores;
  }

 private:
  struct Run {
    double score = 0;
    Transcript transcript;
    std::vector<CountedEvent> events;
    std::string other_noise;
  };
  std::uint64_t seed_of(std::size_t run) const {
    return (std::uint64_t{seed_} << 32) + static_cast<std::uint64_t>(run) + 1;
  }

  Neighbour neighbour(bool one, Membership membership = Membership::as_drawn) const {
    const AnyRecords& others = others_ ? *others_ : *subject_.problem->records;
    return {others, place_, one ? one_ : two_, membership};
  }

  Run run(bool on_one, std::uint64_t seed, Laws laws) const {
    const Again again = laws == Laws::tested ? Again::yes : Again::no;
    Recorded recorded = record(subject_, neighbour(on_one), seed, bug_, again);
    const auto answers = [&](bool one, Membership membership) {
      return answers_of(subject_, recorded, neighbour(one, membership), seed, bug_);
    };
    std::vector<Vector> own;
    for (const Exchange& e : recorded.transcript) own.push_back(e.answer);
    Answers a{std::move(own), answers(!on_one, Membership::as_drawn), {}, {}, {}};
    if (!on_one) std::swap(a.one, a.two);
    if (is_sampled(recorded.transcript)) {
      a.in_one = answers(true, Membership::in);
      a.in_two = answers(false, Membership::in);
      a.out = answers(on_one, Membership::out);
    }
    const double score = log_likelihood_ratio(recorded.transcript, a);
    return {score, std::move(recorded.transcript), charged_to(recorded.ledger, place_),
            std::move(recorded.other_noise)};
  }

  std::unique_ptr<const AnyRecords> others_of(const Subject& subject) const {
    const AnyRecords& own = *subject.problem->records;
    switch (subject.others) {
      case Others::as_second:
        return alike(two_, own.size());
      case Others::silent:
        return alike(saturating(own, 0.0), own.size());
      case Others::outward:
        return alike(saturating(own, 100.0, audit::Direction::outward), own.size());
      case Others::own:
        break;
    }
    return {};
  }

  /// A record that pays most in a first run.
  Index dearest_place() const {
    const Recorded first = record(subject_, neighbour(true), 1, Plant::none);
    Index best = 0;
    double most = -1.0;
    for (const LedgerEntry& e : first.ledger.entries()) {
      const double epsilon = Claim(charged_to(first.ledger, e.charged.begin)).epsilon(1e-6);
      if (epsilon <= most) continue;
      most = epsilon;
      best = e.charged.begin;
    }
    return best;
  }

  const Subject& subject_;
  Plant bug_;
  std::uint32_t seed_;
  std::shared_ptr<const AnyRecords> one_, two_;
  std::unique_ptr<const AnyRecords> others_;  ///< null: the problem's own
  Index place_ = 0;
};

/// Share of resampled sets of runs with which the claim is falsified.
double power_of(Claim& claim, const Attack::Scores& planted, double confidence) {
  constexpr int resamples = 100;
  Stream stream({.seed = 1, .purpose = Purpose::statistics});
  int caught = 0;
  std::vector<double> one(planted.one.size()), two(planted.two.size());
  for (int k = 0; k < resamples; ++k) {
    for (double& s : one) s = planted.one[static_cast<std::size_t>(stream.below(std::ssize(one)))];
    for (double& s : two) s = planted.two[static_cast<std::size_t>(stream.below(std::ssize(two)))];
    caught += claim.falsified_by(error_rates(one, two, confidence)) ? 1 : 0;
  }
  return static_cast<double>(caught) / resamples;
}

}  // namespace

StatisticalAudit audit_statistics(std::string_view algorithm, const StatisticalOptions& options,
                                  std::string_view plant) {
  find_audited(algorithm);
  if (options.runs < 8) reject("audit", "runs", static_cast<double>(options.runs), ">= 8");
  const Subject subject = fast_subject(algorithm, {options.epsilon, options.delta});
  const Plant bug = plant.empty() ? Plant::none : find_plant(plant).plant;
  const auto scores = Attack(subject, bug, options.seed).scores(options.runs, Attack::Laws::tested);
  Claim claim(scores.dearest);
  const ErrorRates rates = error_rates(scores.one, scores.two, options.confidence);
  StatisticalAudit audit{.instance = subject.name,
                         .runs = options.runs,
                         .delta = options.delta,
                         .confidence = options.confidence,
                         .claimed = subject.claimed->epsilon,
                         .accounted = claim.epsilon(options.delta),
                         .audited = claim.audited_epsilon(rates, options.delta),
                         .direct = epsilon_of_rates(rates, options.delta),
                         .falsified = claim.falsified_by(rates),
                         .law = scores.complaint(),
                         .power = {},
                         .answers = scores.answers,
                         .noise = scores.noise.numbers()};
  audit.falsified = audit.falsified || !audit.law.empty();
  if (options.power && bug == Plant::none)
    audit.power = power_of(claim,
                           Attack(subject, Plant::noise_over_1_25, options.seed)
                               .scores(options.runs, Attack::Laws::untested),
                           options.confidence);
  return audit;
}

}  // namespace dpsosp
