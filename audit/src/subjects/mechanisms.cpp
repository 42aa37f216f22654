// SPDX-License-Identifier: Apache-2.0
#include "subjects/mechanisms.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"
#include "dpsosp/privacy/line_search.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/privacy/tree_stream.hpp"

namespace dpsosp::audit {
namespace {

/// Asks random questions; limits are of the order of what records answer, so some are clipped.
class Asker {
 public:
  static constexpr int questions_of_session = 10;

  Asker(Curator& curator, const MechanismSettings& settings, double noise, Stream& stream)
      : curator_(curator),
        settings_(settings),
        noise_(noise),
        stream_(stream),
        d_(curator.facts().dimension),
        out_(Vector::Zero(d_)),
        tree_(curator, 0.1, 8),
        hessians_(curator, stream.below(2) == 0 ? HessianMode::lazy : HessianMode::dense) {}

  void gradient() { gradient(curator_); }

  void gradient(Curator& curator) {
    const Batch batch = curator.draw(settings_.policy);
    const GradientQuery query{0.1 + stream_.uniform(), some_noise()};
    const Vector x = point(), y = other_point(x);
    switch (stream_.below(3)) {
      case 0:
        return curator.gradient(Point(x), batch, query, out_);
      case 1:
        curator.gradient_difference(Point(x), Point(y), batch, query, out_);
        if (x == y) ++free_;
        return;
      default:
        return curator.gradient_combination(
            stream_.uniform(), Point(x), Point(y), batch,
            {.limit = query.limit, .difference_limit = stream_.uniform(), .noise = query.noise},
            out_);
    }
  }

  /// What the last question released; how many were answered by noise alone; how many questions of
  /// a second thread were answered.
  const Vector& released() const { return out_; }
  std::int64_t free() const { return free_; }
  std::int64_t other_threads() const { return other_threads_; }

  void second_order() {
    const Vector x = point(), v = point();
    const double limit = 0.1 + stream_.uniform();
    switch (stream_.below(3)) {
      case 0: {
        Matrix hessian(d_, d_);
        curator_.hessian(Point(x), draw(), {.limit = limit, .noise = some_noise()}, hessian);
        out_ = hessian.diagonal();
        return;
      }
      case 1:
        return curator_.hessian_product(Point(x), v, draw(),
                                        {.limit = limit, .noise = some_noise()}, out_);
      default: {
        if (hessians_.groups() == 0 || stream_.below(4) == 0)
          hessians_.refresh(Point(x), draw(), limit);
        else if (hessians_.groups() < 3)
          hessians_.add(Point(x), Point(other_point(x)), draw(), 0.5 * limit);
        const double most = 2.0 * (limit + 1.1) * v.norm() / size();
        if (stream_.below(8) > 0) return hessians_.product(v, noise_ * most, out_);
        Vector endless = v;
        endless[stream_.below(d_)] = std::numeric_limits<double>::infinity();
        ++free_;  // it has no length, and must have no answer
        return hessians_.product(endless, noise_ * most, out_);
      }
    }
  }

  void leaf() {
    if (tree_.leaves() == 8 || stream_.below(9) == 0) tree_.restart();
    // The deviation of a node is the tree's: the limit makes the charge.
    const double limit = 0.1 * size() / (2.0 * noise_ * (1.0 + stream_.uniform()));
    const Vector x = point();
    from_another_thread([&] { tree_.restart(); });
    tree_.push_gradient(Point(x), draw(), {.limit = limit}, out_);
  }

  /// A session of questions that are mostly answered no.
  void session(double epsilon) {
    const Vector x = point();
    if (stream_.below(2) == 0) {
      StationarityTest test(curator_, draw(),
                            {.epsilon = epsilon,
                             .gradient_scale = 1.0,
                             .curvature_scale = 1.0,
                             .gradient_limit = 1.0,
                             .hessian_limit = 1.0,
                             .slack = -60.0 * 2.0 / size() / epsilon});
      from_another_thread([&] { test.accepts(x); });
      for (int k = 0; k < questions_of_session; ++k)
        if (note(test.accepts(point()))) return expect_end([&] { test.accepts(last_point_); });
    } else {
      constexpr double reach = 0.5;
      LineSearch search(curator_, draw(), x,
                        {.epsilon = epsilon, .loss_limit = 1.0, .reach = reach});
      const double improbable = 40 * search.sensitivity() / epsilon;
      from_another_thread([&] { search.decreases(x, improbable); });
      for (int k = 0; k < questions_of_session; ++k)
        if (note(search.decreases(x + reach * point().normalized(), improbable)))
          return expect_end([&] { search.decreases(x, improbable); });
    }
  }

  /// One question of two scalars, each with noise of its own.
  void scalars(double epsilon) {
    note(StationarityTest(curator_, draw(),
                          {.epsilon = epsilon / std::numbers::sqrt2,
                           .gradient_scale = 1.0,
                           .curvature_scale = 1.0,
                           .gradient_limit = 1.0,
                           .hessian_limit = 1.0,
                           .form = SelectionForm::independent})
             .accepts(point()));
  }

  /// Asks the curator or one of its children, at random; new children are made now and then. A
  /// child may have spent its part while others have not.
  void relative(double epsilon) {
    constexpr std::size_t most = 6;
    try {
      if (children_.size() < most && stream_.below(8) == 0) return adopt();
      const auto k = static_cast<std::size_t>(stream_.below(std::ssize(children_) + 1));
      Curator& asked = k == children_.size() ? curator_ : children_[k];
      switch (stream_.below(6)) {
        case 0:
        case 1:
          return choice(asked, epsilon);
        case 2:
          return product(asked);
        default:
          gradient(asked);
      }
    } catch (const BudgetExhausted&) {
      if (++refusals_ == 1000) throw;
    }
  }

  /// Gibbs draws, and gradients, whose noise comes from the same stream.
  void gibbs(double epsilon) {
    if (stream_.below(2) == 0) return gradient();
    constexpr double radius = 0.5, most_range = 2.0;  // of β times the loss: few proposals
    const Domain domain =
        stream_.below(2) == 0 ? Domain::ball(radius) : Domain::box(radius / std::sqrt(double(d_)));
    const double range = std::min(0.5 * epsilon * size(), most_range);
    GibbsSampler(curator_, draw(),
                 {.inverse_temperature = range / (2 * radius), .lipschitz = 1.0, .domain = domain})
        .sample(out_);
  }

  void choice(double epsilon) { choice(curator_, epsilon); }

  void choice(Curator& curator, double epsilon) {
    ExponentialMechanism mechanism(curator, curator.draw(BatchPolicy::all()));
    Matrix points(d_, 2 + stream_.below(6));
    for (Index j = 0; j < points.cols(); ++j) points.col(j) = point();
    if (stream_.below(10) == 0) {
      // Three points an axis, at the origin or where doubles are two apart.
      const double far = stream_.below(2) == 0 ? 0.0 : 1e16;
      const double radius = 1.55 + 0.4 * stream_.uniform(), root = std::sqrt(double(d_));
      const Net net = Net::box(Vector::Constant(d_, far), radius, 0.35 * radius * root);
      note(mechanism.choose(net, 0.5, epsilon, out_));
      return;
    }
    switch (stream_.below(3)) {
      case 0:
        note(mechanism.choose(points, point(), 0.5, epsilon));
        return;
      case 1:
        note(mechanism.choose_vertex(points, point(), 1.0, epsilon));
        return;
      default:
        note(mechanism.choose_l1_vertex(1.0, point(), 1.0, epsilon));
    }
  }

 private:
  /// A session that goes on after its first yes answers, and the auditor sees it.
  template <class Ask>
  static void expect_end(const Ask& ask) {
    try {
      ask();
    } catch (const InputError&) {
    }
  }
  /// One in eight questions is asked there first, where it must be refused.
  template <class Ask>
  void from_another_thread(const Ask& ask) {
    if (stream_.below(8) > 0) return;
    std::thread([&] {
      try {
        ask();
        ++other_threads_;
      } catch (const InputError&) {  // it is refused
      } catch (...) {
        ++other_threads_;
      }
    }).join();
  }
  /// One in four is the last one again.
  Vector point() {
    if (last_point_.size() == 0 || stream_.below(4) > 0) {
      last_point_.resize(d_);
      stream_.fill_normal(0.5, last_point_);
    }
    return last_point_;
  }
  /// `x` itself or another point: any, a neighbour in floating point, or one that is relatively
  /// near. Whether a question is free must not depend on how near it is.
  Vector other_point(const Vector& x) {
    Vector y = x;
    switch (stream_.below(4)) {
      case 0:
        return y;
      case 1: {
        double& entry = y[stream_.below(d_)];
        entry = std::nextafter(entry, 10.0);
        return y;
      }
      case 2:
        return y * (1.0 + std::pow(10.0, -3.0 - 12.0 * stream_.uniform()));
      default:
        return point();
    }
  }
  template <class Answer>
  Answer note(Answer answer) {
    out_.setConstant(static_cast<double>(answer));
    return answer;
  }
  /// A product with an estimate that was a relative's own before the stream of another one took
  /// over `asked`'s.
  void product(Curator& asked) {
    const auto k = static_cast<std::size_t>(stream_.below(std::ssize(children_) + 1));
    Curator& other = k == children_.size() ? curator_ : children_[k];
    const HessianMode mode = stream_.below(2) == 0 ? HessianMode::lazy : HessianMode::dense;
    const Vector x = point(), v = point();
    constexpr double limit = 0.5;
    HessianStream estimate(asked, mode), taken(other, mode);
    estimate.refresh(Point(x), asked.draw(BatchPolicy::all()), limit);
    if (stream_.below(2) == 0) taken.refresh(Point(v), other.draw(BatchPolicy::all()), limit);
    taken = estimate;
    const double moves = 2.0 * limit * v.norm() / static_cast<double>(asked.facts().records);
    taken.product(v, noise_ * moves, out_);
  }
  /// A child or a grandchild, of some of the records and the budget.
  void adopt() {
    const auto k = static_cast<std::size_t>(stream_.below(std::ssize(children_) + 1));
    Curator& parent = k == children_.size() ? curator_ : children_[k];
    ChildSpec spec{.name = fmt::format("child {}", children_.size())};
    spec.share = 0.05 + 0.4 * stream_.uniform();
    spec.pure_share = 0.05 + 0.4 * stream_.uniform();
    const Index n = parent.facts().records;
    const Index begin = stream_.below(n / 2 + 1);
    if (stream_.below(2) == 0) spec.range = RecordRange{begin, begin + (n - begin + 1) / 2};
    children_.push_back(parent.child(spec));
    if (stream_.below(4) > 0) return;
    try {  // all of the new one's budget for pure mechanisms
      children_.push_back(children_.back().child({.name = "exchanged", .pure = true}));
    } catch (const InputError&) {  // it has none that can be exchanged
    }
  }
  Batch draw() { return curator_.draw(settings_.policy); }
  double size() const { return settings_.policy.divisor(curator_.facts().records); }
  /// Equal for secret batches, whose charges take long to compute.
  Noise some_noise() {
    const bool secret = settings_.policy.kind == BatchPolicy::Kind::sample ||
                        settings_.policy.kind == BatchPolicy::Kind::poisson;
    return Noise::sensitivity_ratio(noise_ * (secret ? 1.0 : 1.0 + 0.5 * stream_.uniform()));
  }

  Curator& curator_;
  const MechanismSettings& settings_;
  double noise_;
  Stream& stream_;
  Index d_;
  Vector out_;
  TreeStream tree_;
  HessianStream hessians_;
  Vector last_point_;
  std::deque<Curator> children_;  // which stay where they are
  int refusals_ = 0;
  std::int64_t free_ = 0, other_threads_ = 0;
};

struct Question {
  std::string_view key, title;
  bool pure;             ///< epsilon a question, not noise
  std::int64_t charges;  ///< in units of a single query
  MechanismSize size;
  std::vector<BatchPolicy> policies;  ///< of replay
  void (*ask)(Asker&, double epsilon);
  bool release = false;
};

const std::vector<Question>& all_questions() {
  static const std::vector<BatchPolicy> whole{BatchPolicy::all()};
  static const std::vector<BatchPolicy> open{BatchPolicy::all(), BatchPolicy::fresh(8)};
  static const std::vector<Question> all{
      {"curator/gradients",
       "Gradients of public batches",
       false,
       1,
       {400, 40},
       open,
       [](Asker& asker, double) { asker.gradient(); }},
      {"curator/samples",
       "Gradients of secret batches",
       false,
       1,
       {200, 12},
       {BatchPolicy::sample(40), BatchPolicy::poisson(0.1), BatchPolicy::poisson(0.5)},
       [](Asker& asker, double) { asker.gradient(); }},
      {"curator/second-order",
       "Hessians and their products",
       false,
       1,
       {80, 8},
       whole,
       [](Asker& asker, double) { asker.second_order(); }},
      {"curator/trees",
       "Prefix sums of trees",
       false,
       12,
       {400, 20},
       open,
       [](Asker& asker, double) { asker.leaf(); }},
      {"curator/questions",
       "AboveThreshold",
       true,
       1,
       {40, 3},
       whole,
       [](Asker& asker, double epsilon) { asker.session(epsilon); }},
      {"curator/scalars",
       "Two scalars with Laplace noise each",
       true,
       1,
       {40, 3},
       whole,
       [](Asker& asker, double epsilon) { asker.scalars(epsilon); }},
      {"curator/choices",
       "Exponential mechanisms",
       true,
       1,
       {80, 4},
       whole,
       [](Asker& asker, double epsilon) { asker.choice(epsilon); }},
      {"curator/gibbs",
       "Gibbs draws, and gradients by the same curator",
       true,
       1,
       {40, 3},
       whole,
       [](Asker& asker, double epsilon) { asker.gibbs(epsilon); }},
      {"curator/children",
       "Children and grandchildren of a curator, each with a part of its budget",
       true,
       1,
       {40, 4},
       whole,
       [](Asker& asker, double epsilon) {
         for (int k = 0; k < 4; ++k) asker.relative(epsilon);
       }},
      {"release/gradients",
       "Gradients with exact noise",
       false,
       1,
       {200, 12},
       open,
       [](Asker& asker, double) { asker.gradient(); },
       true},
      {"release/second-order",
       "Hessians and their products with exact noise",
       false,
       1,
       {40, 5},
       whole,
       [](Asker& asker, double) { asker.second_order(); },
       true},
      {"release/trees",
       "Prefix sums of trees with exact noise",
       false,
       12,
       {200, 12},
       open,
       [](Asker& asker, double) { asker.leaf(); },
       true}};
  return all;
}

const Question& find_question(std::string_view key) {
  const auto found = std::ranges::find(all_questions(), key, &Question::key);
  if (found == all_questions().end()) reject_unknown("mechanism", key, mechanism_keys());
  return *found;
}

class Mechanism final : public Algorithm {
 public:
  Mechanism(const Question& question, MechanismSettings settings)
      : question_(question), settings_(std::move(settings)) {
    card_.key = question.key;
    card_.title = question.title;
    card_.numbers_version =
        2;  // 2: sessions of other threads, far nets, endless vectors, exchanges
  }

  const AlgorithmCard& card() const override { return card_; }
  Fields fields() override { return {}; }
  void set_variant(Variant) override {}
  Scheduled schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator) override {
    const double pure = settings_.pure_share * budget.epsilon;
    if (question_.pure) {
      const FilterRule rule = settings_.calibrator == Calibrator::rdp
                                  ? filter_rule(budget, Calibrator::rdp, 8.0, pure)
                                  : filter_rule(budget, settings_.calibrator, {}, pure);
      const auto n = static_cast<double>(settings_.queries);
      // A pure ε costs at most ε²/2 of zCDP.
      epsilon_ = pure > 0 ? pure / n : std::sqrt(2 * rule.capacity / n);
      noise_ = std::sqrt(rule.order.value_or(1.0) * n / (2 * rule.capacity));
      return {.rule = rule};
    }
    const PlannedQuery planned{settings_.policy, question_.charges * settings_.queries};
    const CalibratedNoise noise =
        calibrate_common_noise(std::span(&planned, 1), facts.records, budget, settings_.calibrator);
    noise_ = noise.sensitivity_ratio;
    return {.rule = noise.rule};
  }
  void check_settings(const PublicFacts& facts) const override { refuse_shared_dual(card_, facts); }
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override {
    Outcome outcome{.point = Vector::Zero(1), .status = Status::steps_done};
    Asker asker(curator, settings_, noise_, stream);
    try {
      for (; outcome.steps < 4 * settings_.queries; ++outcome.steps) {
        question_.ask(asker, epsilon_);
        observer.iterate(outcome.steps, asker.released());
      }
    } catch (const Refused& refusal) {
      outcome.status = status_of(refusal);
    }
    outcome.counts["free"] = asker.free();
    outcome.counts["other_threads"] = asker.other_threads();
    return outcome;
  }

 private:
  const Question& question_;
  AlgorithmCard card_;
  MechanismSettings settings_;
  double noise_ = 0, epsilon_ = 0;
};

}  // namespace

std::vector<std::string> mechanism_keys() {
  std::vector<std::string> keys;
  for (const Question& question : all_questions()) keys.emplace_back(question.key);
  return keys;
}

bool is_mechanism(std::string_view key) {
  return key.starts_with("curator/") || key.starts_with("release/");
}

bool asks_release(std::string_view key) { return find_question(key).release; }

std::unique_ptr<Algorithm> make_mechanism(std::string_view key, MechanismSettings settings) {
  return std::make_unique<Mechanism>(find_question(key), std::move(settings));
}

std::vector<MechanismSettings> mechanism_settings(std::string_view key) {
  const Question& question = find_question(key);
  std::vector<MechanismSettings> all;
  for (const BatchPolicy& policy : question.policies)
    for (const Calibrator calibrator :
         {Calibrator::bun_steinke, Calibrator::cks, Calibrator::exact_gaussian, Calibrator::rdp}) {
      const bool secret =
          policy.kind == BatchPolicy::Kind::sample || policy.kind == BatchPolicy::Kind::poisson;
      if (secret && calibrator != Calibrator::rdp) continue;
      if (question.release && calibrator == Calibrator::exact_gaussian) continue;
      if (question.pure) {
        if (calibrator == Calibrator::exact_gaussian) continue;
        if (calibrator != Calibrator::rdp) all.push_back({policy, calibrator, 0.0});
        all.push_back({policy, calibrator, 0.5});
      } else {
        all.push_back({policy, calibrator});
      }
    }
  if (key == "curator/gradients") {  // beyond every block of numbers; and many answers
    all.push_back({.policy = BatchPolicy::all(), .records = 20, .dimension = 600});
    all.push_back({.policy = BatchPolicy::all(), .queries = 5000, .records = 10, .dimension = 3});
  }
  if (key == "curator/samples")  // which often are empty
    all.push_back({.policy = BatchPolicy::poisson(0.1),
                   .calibrator = Calibrator::rdp,
                   .records = 3,
                   .dimension = 2});
  if (key == "curator/children") {  // with samples of their own records
    all.push_back({.policy = BatchPolicy::poisson(0.4)});
    all.push_back({.policy = BatchPolicy::sample(1), .calibrator = Calibrator::rdp});
  }
  return all;
}

MechanismSettings fast_mechanism_settings(std::string_view key) {
  const Question& question = find_question(key);
  const BatchPolicy& policy = question.policies.front();
  return {
      .policy = policy,
      .calibrator = policy.kind == BatchPolicy::Kind::sample ? Calibrator::rdp : Calibrator::cks,
      .pure_share = question.pure ? 0.5 : 0.0,
      .queries = 5};
}

MechanismSize mechanism_size(std::string_view key) { return find_question(key).size; }

}  // namespace dpsosp::audit
