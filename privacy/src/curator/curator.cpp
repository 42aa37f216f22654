// SPDX-License-Identifier: Apache-2.0
#include "curator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "curator_exact.hpp"
#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/finite.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp::door {
namespace {

StreamKey with_purpose(StreamKey key, Purpose purpose) {
  key.purpose = purpose;
  return key;
}

/// The least capacity that ChildSpec::pure takes in exchange.
constexpr double least_exchanged = 1e-100;

PrivacyLabel label_of(bool sound, bool no_noise, bool no_data, bool no_clipping) {
  if (sound) return PrivacyLabel::enforced;
  if (no_noise || no_data) return PrivacyLabel::none;
  return no_clipping ? PrivacyLabel::conditional : PrivacyLabel::violated;
}

}  // namespace

Curator::Own::Own(Source source_, PublicFacts facts_, std::string scope_, RecordRange range_,
                  FilterRule rule_, const StreamKey& key_)
    : source(source_),
      facts(std::move(facts_)),
      scope(std::move(scope_)),
      range(range_),
      rule(std::move(rule_)),
      filter(range_, rule.capacity, rule.pure_capacity, rule.delta_extra),
      key(key_),
      noise(with_purpose(key_, Purpose::noise)),
      sampling(with_purpose(key_, Purpose::sampling)),
      choice(with_purpose(key_, Purpose::choice)),
      fresh_cursor(range_.begin) {}

std::shared_ptr<Batch> Curator::Own::new_batch() {
  if (!drawn || drawn.use_count() > 1) drawn = std::make_shared<Batch>();
  drawn->answered = false;
  drawn->members.clear();
  drawn->range = {};
  return drawn;
}

double Curator::Own::charge_of(const Event& event) {
  if (!last_charged || !(last_charged->first == event))
    last_charged.emplace(event, rule.charge(event));
  return last_charged->second;
}

std::optional<RangeFilter::Account> Curator::Own::charge_pure(RecordRange charged,
                                                              const Event& event,
                                                              double delta_extra) {
  check(event);
  const bool no_other = rule.calibrator == Calibrator::exact_gaussian || rule.capacity == 0 ||
                        (rule.calibrator == Calibrator::rdp && !rule.order);
  const bool pure_alone = rule.pure_capacity > 0 && no_other;
  const double amount = pure_alone ? std::numeric_limits<double>::infinity() : charge_of(event);
  return filter.try_pure({charged, amount}, *pure_epsilon(event), delta_extra);
}

Curator::Curator(const PublicFacts& facts, Source source, const FilterRule& rule, StreamKey key,
                 ClipLog* clip_log, const Departures& departures, Auditor* auditor,
                 std::unique_ptr<WordSource> words)
    : shared_(std::make_shared<Shared>()) {
  const Index records = std::visit([](const auto* of) { return of->size(); }, source);
  if (records != facts.records)
    reject("curator", "records", static_cast<double>(records),
           fmt::format("the {} of the public facts", facts.records));
  own_ = std::make_unique<Own>(source, facts, "/", RecordRange{0, facts.records}, rule, key);
  if (words && own_->mixed())
    throw InputError(
        "release: a record's contribution depends on the others of its batch, so that "
        "no clip bounds it; choose a network without batch normalisation");
  shared_->clip_log = clip_log;
  shared_->departures = departures;
  shared_->auditor = auditor;
  shared_->words = std::move(words);
  shared_->rests_on_assumption = own_->records() != nullptr && !own_->records()->checked();
  shared_->paths.insert(key.path);
}

Curator::Curator(std::shared_ptr<Shared> shared, std::unique_ptr<Own> own)
    : shared_(std::move(shared)), own_(std::move(own)) {}

Curator::~Curator() = default;

const PublicFacts& Curator::facts() const { return own_->facts; }
const Ledger& Curator::ledger() const { return shared_->ledger; }

void Curator::expect_own_thread() const {
  if (std::this_thread::get_id() != shared_->thread)
    throw InputError(
        "curator: asked from another thread than it was made in; make one for each thread");
}

bool Curator::answers_second_order() const { return own_->sums().has_second_order(); }

PrivacyLabel Curator::label() const {
  if (shared_->auditor != nullptr || own_->mixed()) return PrivacyLabel::none;
  const Departures& d = shared_->departures;
  const PrivacyLabel label = label_of(!d.no_filter, d.no_noise, d.no_data, d.no_clipping);
  if (label != PrivacyLabel::enforced) return label;
  if (own_->simulated()) return PrivacyLabel::simulated;
  return shared_->rests_on_assumption ? PrivacyLabel::conditional : label;
}

Remaining Curator::remaining() const {
  const FilterRule& rule = own_->rule;
  return {rule.capacity > 0 ? own_->filter.remaining() / rule.capacity : 0.0, fresh_records(),
          rule.pure_capacity > 0 ? own_->filter.pure_remaining() / rule.pure_capacity : 0.0};
}

Index Curator::fresh_records() const { return own_->range.end - own_->fresh_cursor; }

std::shared_ptr<Batch> Curator::draw(const BatchPolicy& policy, BatchUse use) {
  Own& own = *own_;
  const Index n = own.facts.records;
  const std::shared_ptr<Batch> drawn = own.new_batch();
  Batch& batch = *drawn;
  batch.policy = policy;
  batch.use = use;
  batch.drawn_by = own.identity;
  if (policy.kind == BatchPolicy::Kind::fresh || policy.kind == BatchPolicy::Kind::sample)
    if (!(policy.size >= 1 && policy.size <= n))
      reject("batch", "size", static_cast<double>(policy.size),
             fmt::format("in [1, records] with records = {}", n));
  const bool simulated = own_->simulated();
  const bool secret = batch.secret();
  std::vector<Index>& members = batch.members;
  if (secret) shared_->refuse_if_exact(fmt::format("batch {}", to_string(policy.kind)));
  if (simulated && secret)
    throw InputError(fmt::format(
        "batch: simulated records answer `all` and `fresh` batches, not `{}`; use real records",
        to_string(policy.kind)));
  switch (policy.kind) {
    case BatchPolicy::Kind::all:
      batch.range = own.range;
      if (simulated) shared_->simulated.admit(policy, batch.range, own.identity);
      break;
    case BatchPolicy::Kind::fresh:
      if (own.range.end - own.fresh_cursor < policy.size)
        throw DataExhausted(fmt::format("fresh batch of {} refused: {} unused records are left",
                                        policy.size, own.range.end - own.fresh_cursor));
      batch.range = {own.fresh_cursor, own.fresh_cursor + policy.size};
      if (simulated) shared_->simulated.admit(policy, batch.range, own.identity);
      own.fresh_cursor += policy.size;
      break;
    case BatchPolicy::Kind::sample:
      own.sampling.subset(n, policy.size, members);
      break;
    case BatchPolicy::Kind::poisson:
      if (!(policy.rate > 0 && policy.rate <= 1)) reject("batch", "rate", policy.rate, "in (0, 1]");
      do own.sampling.bernoulli_subset(n, policy.rate, members);
      while (members.empty() && shared_->departures.resample_empty);
      break;
  }
  for (Index& i : members) i += own.range.begin;
  if (secret && shared_->auditor != nullptr)
    shared_->auditor->drawn({policy, own.range, members, own.key.path});
  return drawn;
}

void Curator::check_query(const Point& point, const Point* previous, const Batch& batch,
                          Block block, Index entries) const {
  const PublicFacts& facts = own_->facts;
  if (batch.drawn_by != own_->identity)
    throw InputError("batch: drawn by another curator; draw it from the one that is asked");
  const auto expect_size = [](std::string_view what, Index size, Index expected) {
    if (size != expected)
      reject("query", what, static_cast<double>(size), fmt::format("{} entries", expected));
  };
  expect_size("x", point.x.size(), facts.dimension);
  if (point.has_dual()) expect_size("y", point.y.size(), facts.dual_dimension);
  if (previous != nullptr) {
    expect_size("previous x", previous->x.size(), facts.dimension);
    expect_size("previous y", previous->y.size(), point.y.size());
  }
  if (!point.has_dual() && (block != Block::x || facts.dual_kind == DualKind::shared))
    throw InputError("query: this block of this problem needs a point with y");
  expect_size(
      "out", entries,
      (block == Block::y ? 0 : facts.dimension) + (block == Block::x ? 0 : facts.dual_dimension));
}

RecordRange Curator::charged_range(const Batch& batch) const {
  return batch.secret() ? own_->range : batch.range;
}

void Curator::answer(const char* name, const Point& point, const Point* previous,
                     const Batch& batch, const GradientQuery& query, VectorRef out) {
  Own& own = *own_;
  const Departures& departures = shared_->departures;
  check_query(point, previous, batch, query.block, out.size());
  const bool still = previous != nullptr && point.distance(*previous) == 0.0;
  Question question{
      .name = name,
      .batch = batch,
      .plan = plan_gaussian(batch.policy, batch.use, own.facts.records, query.limit, query.noise),
      .lone_sensitivity = 2.0 * query.limit,
      .clipped_mean = departures.clip_batch_mean,
      .still = still,
      .reads = !still && (query.limit > 0 || departures.no_clipping)};
  pay(question);

  const Summand gradient = Summand::gradient(point, query.block, previous);
  const double divisor = question.plan.divisor;
  if (shared_->words) {
    answer_exactly(question.plan.standard_deviation, out, [&](LatticeVector& sum) {
      if (!still) read_exactly(gradient, batch, query.limit, 1.0 / divisor, sum);
    });
    return;
  }
  own.work.setZero(out.size());
  if (!still) read_mean(gradient, batch, query.limit, divisor);
  add_noise(question.plan.standard_deviation);
  out = own.work;
}

void Curator::add_noise(double standard_deviation) {
  Vector& work = own_->work;
  shared_->audit({.deviation = standard_deviation, .path = own_->key.path}, work);
  if (!shared_->departures.no_noise) own_->noise.add_normal(standard_deviation, work);
  shared_->audit_noisy(work);
}

void Curator::pay(Question& question) {
  Own& own = *own_;
  const Departures& departures = shared_->departures;
  const Batch& batch = question.batch;
  GaussianPlan& plan = question.plan;
  if (batch.secret() && batch.use == BatchUse::one_query && batch.answered)
    throw InputError(
        "batch: a secret batch drawn for one query was asked twice; draw it for several");
  const bool bare = plan.sensitivity > 0 && plan.standard_deviation == 0;
  if (bare && !departures.no_filter)
    reject("query", "noise", 0.0,
           "> 0; a query without noise is not private and this curator refuses it");
  if (question.reads && !plan.event && !departures.no_filter && !departures.no_clipping)
    reject("query", "sensitivity", plan.sensitivity,
           "> 0; the weight times the limit is too small to be charged");
  if (question.still) plan.event.reset();
  if (shared_->words && plan.event)
    plan.event = shared_->as_drawn(std::get<GaussianEvent>(*plan.event));
  const bool realised =
      departures.realised_divisor && batch.policy.kind == BatchPolicy::Kind::poisson;
  if ((question.clipped_mean || realised) && plan.event) {
    plan.sensitivity = question.lone_sensitivity;  // the true one: a batch may be a single record
    plan.event = GaussianEvent{question.isotropic * plan.standard_deviation / plan.sensitivity};
  }
  // A batch that is never empty is not a Poisson batch: no amplification is proved for it.
  if (departures.resample_empty && plan.event) plan.event = without_amplification(*plan.event);
  const RecordRange charged = charged_range(batch);

  if (plan.event && !departures.no_filter &&
      !own.filter.try_slice({charged, own.charge_of(*plan.event)}))
    throw BudgetExhausted(
        fmt::format("{} refused: its charge exceeds the privacy budget", question.name));

  if (departures.no_noise) plan.event.reset();
  // Listed with the charge: if the records throw, filter and ledger still agree.
  if (plan.event || (question.reads && !departures.no_data))
    shared_->list({own.scope, question.name, batch.policy, plan.event, charged, plan.sensitivity,
                   plan.sensitivity, plan.standard_deviation, plan.standard_deviation, 1});
  batch.answered = true;
}

BatchView Curator::members_of(const Batch& batch) {
  return batch.secret() ? BatchView(batch.members) : BatchView(batch.range.begin, batch.range.end);
}

ClipReport Curator::read(const Summand& summand, const BatchView& view, double limit,
                         Vector& sum) const {
  const RecordSums& records = own_->sums();
  const ClipReport report = records.add(summand, view, limit, sum);
  if (all_finite(sum)) return report;
  sum.setZero();
  if (own_->simulated()) return report;
  Vector one(sum.size());
  for (Index k = 0; k < view.size(); ++k) {
    one.setZero();
    records.add(summand, BatchView(view[k], view[k] + 1), limit, one);
    if (all_finite(one)) sum += one;
  }
  return report;
}

void Curator::read_mean(const Summand& gradient, const Batch& batch, double nominal,
                        double divisor) {
  const Departures& departures = shared_->departures;
  const bool unclipped = departures.no_clipping || departures.clip_batch_mean;
  if (departures.no_data || (nominal == 0 && !unclipped)) return;
  if (!gradient.finite()) return;  // all count as 0
  const double limit = unclipped ? std::numeric_limits<double>::infinity() : nominal;
  const BatchView view = members_of(batch);
  Vector& mean = own_->work;
  const ClipReport report = read(gradient, view, limit, mean);
  mean /= departures.realised_divisor ? std::max(1.0, static_cast<double>(view.size())) : divisor;
  if (departures.clip_batch_mean && mean.norm() > nominal) mean *= nominal / mean.norm();
  note_clipping(report, view.size(), limit);
  if (departures.no_clipping) note_violations(report, gradient, view, nominal);
}

double Curator::read_loss_difference(ConstVectorRef point, ConstVectorRef centre,
                                     const Batch& batch, double limit) {
  if (shared_->departures.no_data || limit == 0) return 0.0;
  const BatchView view(batch.range.begin, batch.range.end);
  Vector sum = Vector::Zero(1);
  const ClipReport report = read(Summand::loss(Point(point), Point(centre)), view, limit, sum);
  note_clipping(report, view.size(), limit);
  return sum[0] / batch.policy.divisor(own_->facts.records);
}

void Curator::note_clipping(const ClipReport& report, Index contributions, double limit) {
  ClipLog* log = shared_->clip_log;
  if (log == nullptr) return;
  ++log->queries;
  log->contributions += static_cast<double>(contributions);
  log->clipped += report.clipped;
  if (std::isfinite(limit) && limit > 0)
    log->largest_norm = std::max(log->largest_norm, report.largest_norm / limit);
}

void Curator::note_violations(const ClipReport& report, const Summand& summand,
                              const BatchView& view, double nominal) {
  ClipLog* log = shared_->clip_log;
  if (log == nullptr || shared_->departures.no_noise || !(nominal > 0)) return;
  log->largest_over_nominal = std::max(log->largest_over_nominal, report.largest_norm / nominal);
  if (!own_->simulated() && report.largest_norm <= nominal) return;
  try {
    const Index longer = own_->sums().longer(summand, view, nominal);
    if (longer > 0 && log->first_violation < 0) log->first_violation = log->queries - 1;
    log->violations += longer;
  } catch (const InputError&) {  // simulated: a record may be longer, and none can be inspected
    log->unseen += static_cast<double>(view.size());
  }
}

void Curator::read_hessian(const Summand& product, const Batch& batch, double limit) {
  const Departures& departures = shared_->departures;
  if (departures.no_data) return;
  const double nominal = limit;
  if (departures.no_clipping) limit = std::numeric_limits<double>::infinity();
  if (limit == 0 || !product.finite()) return;
  const BatchView view = members_of(batch);
  Vector sum = Vector::Zero(product.entries());
  const ClipReport report = read(product, view, limit, sum);
  own_->work += sum / divisor_of(batch, view);
  note_clipping(report, view.size(), limit);
  if (departures.no_clipping) note_violations(report, product, view, nominal);
}

double Curator::divisor_of(const Batch& batch, const BatchView& members) const {
  return shared_->departures.realised_divisor ? std::max(1.0, static_cast<double>(members.size()))
                                              : batch.policy.divisor(own_->facts.records);
}

std::unique_ptr<Curator> Curator::child(const ChildSpec& spec) {
  Own& own = *own_;
  const double pure_share = spec.pure_share.value_or(spec.share);
  const double failure_share = spec.delta_extra_share.value_or(spec.share);
  const auto check_share = [](std::string_view name, double share) {
    if (!(share >= 0 && share <= 1)) reject("child curator", name, share, "in [0, 1]");
  };
  if (!(spec.share > 0 && spec.share <= 1) && !(spec.share == 0 && pure_share > 0))
    reject("child curator", "share", spec.share, "in (0, 1], or 0 beside a pure_share > 0");
  check_share("pure_share", pure_share);
  check_share("delta_extra_share", failure_share);
  if (spec.pure && !(spec.share == 1 && pure_share == 1 && failure_share == 1))
    reject("child curator", "share", spec.share, "1, to exchange the whole budget");
  // A slice of nothing could be had any number of times; a denormal one, twice.
  if (spec.pure && !shared_->departures.no_filter &&
      std::max(own.rule.capacity, own.rule.pure_capacity) < least_exchanged)
    reject("child curator", "budget", std::max(own.rule.capacity, own.rule.pure_capacity),
           fmt::format("at least {:g}, to be exchanged", least_exchanged));
  RecordRange range = own.range;
  if (spec.range) {
    if (!(spec.range->begin >= 0 && spec.range->begin < spec.range->end &&
          spec.range->end <= own.facts.records))
      reject("child curator", "range", fmt::format("[{}, {})", spec.range->begin, spec.range->end),
             fmt::format("a non-empty part of [0, {})", own.facts.records));
    range = {own.range.begin + spec.range->begin, own.range.begin + spec.range->end};
  }
  PublicFacts facts = spec.projection ? projected_facts(own.facts, spec.projection->map.rows(),
                                                        spec.projection->cap)
                                      : own.facts;
  if (spec.initial_point && spec.initial_point->size() != facts.dimension)
    reject("child curator", "initial_point", static_cast<double>(spec.initial_point->size()),
           fmt::format("{} entries", facts.dimension));
  Source source = own.source;
  std::shared_ptr<const RecordSums> projected = own.projected;
  if (spec.projection) {
    if (!all_finite(spec.projection->map))
      throw InputError("child curator: the projection has an entry that is not finite");
    std::visit(
        [&](const auto* of) {
          auto made = of->projected(spec.projection->map, facts.feature_bound);
          source = made.get();
          projected = std::move(made);
        },
        own.source);
  }
  FilterRule rule = own.rule;
  rule.capacity *= spec.share;
  rule.pure_capacity *= pure_share;
  rule.delta_extra *= failure_share;
  if (!shared_->departures.no_filter &&
      !own.filter.try_slice({range, rule.capacity, rule.pure_capacity, rule.delta_extra}))
    throw BudgetExhausted(
        fmt::format("child '{}' refused: its slice exceeds the budget", spec.name));
  if (spec.pure) {
    rule.capacity = rule.delta_extra = 0.0;
    rule.pure_capacity = rule.alone_epsilon;
  } else if (spec.share < 1 || pure_share < 1 || failure_share < 1) {
    rule.alone_epsilon = 0.0;  // defined for a whole budget alone
  }
  facts.records = range.end - range.begin;
  if (spec.initial_point) facts.initial_point = *spec.initial_point;
  if (spec.suboptimality)
    facts.constants.set(constant::suboptimality, {*spec.suboptimality, Origin::estimated, "child"});
  const std::string scope = fmt::format("{}{}/", own.scope, spec.name);
  // Keys of siblings differ, those of cousins may not, and two curators with one key would have
  // the same noise: an author could look for such a pair, since paths are a public function.
  StreamKey key = own.key.child(own.children++);
  while (!shared_->paths.insert(key.path).second) key = own.key.child(own.children++);
  auto made = std::make_unique<Own>(source, std::move(facts), scope, range, rule, key);
  made->projected = std::move(projected);
  return std::unique_ptr<Curator>(new Curator(shared_, std::move(made)));
}

}  // namespace dpsosp::door
