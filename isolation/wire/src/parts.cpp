// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/wire/parts.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace dpsosp::wire {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::int64_t most_entries = 4096;  // of a table of names

std::int64_t count(Message& message) {
  const std::int64_t n = message.integer();
  if (n < 0 || n > most_entries) throw Broken("a table of names is too long");
  return n;
}

void put_entries(Channel& channel, const double* data, Index entries) {
  channel.put_bytes(data, static_cast<std::size_t>(entries) * sizeof(double));
}

std::size_t entries_of(std::string_view bytes) {
  if (bytes.size() % sizeof(double) != 0)
    throw Broken("bytes are no whole number of words of eight");
  return bytes.size() / sizeof(double);
}

void copy(std::string_view bytes, double* out) {
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
}

Noise get_noise(Message& m) { return {get<Noise::Unit>(m), m.number()}; }

}  // namespace

bool Get<bool>::from(Message& m) { return m.boolean(); }
double Get<double>::from(Message& m) { return m.number(); }
std::int64_t Get<std::int64_t>::from(Message& m) { return m.integer(); }
std::string Get<std::string>::from(Message& m) { return std::string(m.text()); }

void put(Channel& channel, const Vector& vector) {
  put_entries(channel, vector.data(), vector.size());
}
void put(Channel& channel, const ConstVectorRef& vector) {
  put_entries(channel, vector.data(), vector.size());
}
void read(Message& m, Vector& out) {
  const std::string_view bytes = m.bytes();
  out.resize(static_cast<Index>(entries_of(bytes)));
  copy(bytes, out.data());
}
void read_exactly(Message& m, VectorRef out) {
  const std::string_view bytes = m.bytes();
  if (entries_of(bytes) != static_cast<std::size_t>(out.size()))
    throw Broken(fmt::format("{} bytes came where {} doubles are due", bytes.size(), out.size()));
  copy(bytes, out.data());
}
Vector Get<Vector>::from(Message& m) {
  Vector vector;
  read(m, vector);
  return vector;
}

void put(Channel& channel, const Matrix& matrix) {
  put(channel, matrix.cols());
  put_entries(channel, matrix.data(), matrix.size());
}
Matrix Get<Matrix>::from(Message& m) {
  const Index columns = m.integer();
  const std::string_view bytes = m.bytes();
  const auto entries = static_cast<Index>(entries_of(bytes));
  if (columns < 1 ? columns != 0 || entries != 0 : entries % columns != 0)
    throw Broken("the entries of a matrix do not fill its columns");
  Matrix matrix(columns == 0 ? 0 : entries / columns, columns);
  copy(bytes, matrix.data());
  return matrix;
}

void put(Channel& channel, const std::vector<std::uint64_t>& words) {
  channel.put_bytes(words.data(), words.size() * sizeof(std::uint64_t));
}
std::vector<std::uint64_t> Get<std::vector<std::uint64_t>>::from(Message& m) {
  const std::string_view bytes = m.bytes();
  std::vector<std::uint64_t> words(entries_of(bytes));
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

void put(Channel& channel, const Point& point) {
  put(channel, point.x);
  put(channel, point.y);
}
OwnPoint Get<OwnPoint>::from(Message& m) {
  OwnPoint point;
  read(m, point.x);
  read(m, point.y);
  return point;
}

void put(Channel& channel, const BatchPolicy& policy) {
  put(channel, policy.kind);
  put(channel, policy.size);
  put(channel, policy.rate);
}
BatchPolicy Get<BatchPolicy>::from(Message& m) {
  BatchPolicy policy;
  policy.kind = get<BatchPolicy::Kind>(m);
  policy.size = m.integer();
  policy.rate = m.number();
  return policy;
}

void put(Channel& channel, const Noise& noise) {
  put(channel, noise.unit);
  put(channel, noise.value);
}

void put(Channel& channel, const GradientQuery& query) {
  put(channel, query.limit);
  put(channel, query.noise);
  put(channel, query.block);
}
GradientQuery Get<GradientQuery>::from(Message& m) {
  GradientQuery query;
  query.limit = m.number();
  query.noise = get_noise(m);
  query.block = get<Block>(m);
  return query;
}

void put(Channel& channel, const CombinationQuery& query) {
  put(channel, query.limit);
  put(channel, query.difference_limit);
  put(channel, query.noise);
  put(channel, query.block);
}
CombinationQuery Get<CombinationQuery>::from(Message& m) {
  CombinationQuery query;
  query.limit = m.number();
  query.difference_limit = m.number();
  query.noise = get_noise(m);
  query.block = get<Block>(m);
  return query;
}

void put(Channel& channel, const HessianQuery& query) {
  put(channel, query.limit);
  put(channel, query.rank);
  put(channel, query.noise);
}
HessianQuery Get<HessianQuery>::from(Message& m) {
  HessianQuery query;
  query.limit = m.number();
  query.rank = m.integer();
  query.noise = get_noise(m);
  return query;
}

void put(Channel& channel, const HessianProductQuery& query) {
  put(channel, query.limit);
  put(channel, query.noise);
}
HessianProductQuery Get<HessianProductQuery>::from(Message& m) {
  HessianProductQuery query;
  query.limit = m.number();
  query.noise = get_noise(m);
  return query;
}

void put(Channel& channel, const ChildSpec& spec) {
  put(channel, spec.name);
  put(channel, spec.share);
  put(channel, spec.range ? std::optional(spec.range->begin) : std::nullopt);
  put(channel, spec.range ? std::optional(spec.range->end) : std::nullopt);
  put(channel, spec.initial_point);
  put(channel, spec.suboptimality);
  put(channel, spec.pure_share);
  put(channel, spec.delta_extra_share);
  put(channel, spec.pure);
  put(channel, spec.projection ? std::optional(spec.projection->map) : std::nullopt);
  put(channel, spec.projection ? std::optional(spec.projection->cap) : std::nullopt);
}
ChildSpec Get<ChildSpec>::from(Message& m) {
  ChildSpec spec;
  spec.name = get<std::string>(m);
  spec.share = m.number();
  const auto begin = get<std::optional<Index>>(m), end = get<std::optional<Index>>(m);
  if (begin && end) spec.range = RecordRange{*begin, *end};
  spec.initial_point = get<std::optional<Vector>>(m);
  spec.suboptimality = get<std::optional<double>>(m);
  spec.pure_share = get<std::optional<double>>(m);
  spec.delta_extra_share = get<std::optional<double>>(m);
  spec.pure = m.boolean();
  auto map = get<std::optional<Matrix>>(m);
  const auto cap = get<std::optional<double>>(m);
  if (map && cap) spec.projection = Projection{std::move(*map), *cap};
  return spec;
}

void put(Channel& channel, const StationaritySpec& spec) {
  put(channel, spec.epsilon);
  put(channel, spec.gradient_scale);
  put(channel, spec.curvature_scale);
  put(channel, spec.gradient_limit);
  put(channel, spec.hessian_limit);
  put(channel, spec.slack);
  put(channel, spec.form);
  put(channel, spec.scales);
  put(channel, spec.candidates);
  put(channel, spec.failure);
}
StationaritySpec Get<StationaritySpec>::from(Message& m) {
  StationaritySpec spec;
  spec.epsilon = m.number();
  spec.gradient_scale = m.number();
  spec.curvature_scale = m.number();
  spec.gradient_limit = m.number();
  spec.hessian_limit = m.number();
  spec.slack = m.number();
  spec.form = get<SelectionForm>(m);
  spec.scales = get<SelectionScales>(m);
  spec.candidates = m.integer();
  spec.failure = m.number();
  return spec;
}

void put(Channel& channel, const LineSearchSpec& spec) {
  put(channel, spec.epsilon);
  put(channel, spec.loss_limit);
  put(channel, spec.reach);
}
LineSearchSpec Get<LineSearchSpec>::from(Message& m) {
  LineSearchSpec spec;
  spec.epsilon = m.number();
  spec.loss_limit = m.number();
  spec.reach = m.number();
  return spec;
}

void put(Channel& channel, const Domain& domain) {
  put(channel, domain.kind);
  put(channel, domain.radius);
}
Domain Get<Domain>::from(Message& m) {
  Domain domain;
  domain.kind = get<Domain::Kind>(m);
  domain.radius = m.number();
  return domain;
}

void put(Channel& channel, const GibbsSpec& spec) {
  put(channel, spec.inverse_temperature);
  put(channel, spec.regularizer);
  put(channel, spec.lipschitz);
  put(channel, spec.domain);
  put(channel, spec.method);
  put(channel, spec.step);
  put(channel, spec.rounds);
  put(channel, spec.sampling_error);
}
GibbsSpec Get<GibbsSpec>::from(Message& m) {
  GibbsSpec spec;
  spec.inverse_temperature = m.number();
  spec.regularizer = m.number();
  spec.lipschitz = m.number();
  spec.domain = get<Domain>(m);
  spec.method = get<GibbsMethod>(m);
  spec.step = m.number();
  spec.rounds = m.integer();
  spec.sampling_error = m.number();
  return spec;
}

void put(Channel& channel, const Net& net) {
  put(channel, net.is_ball());
  put(channel, net.centre());
  put(channel, net.is_ball() ? net.reach() : net.half_width());
  put(channel, net.radius());
}
Net Get<Net>::from(Message& m) {
  const bool ball = m.boolean();
  const Vector centre = get<Vector>(m);
  const double size = m.number(), radius = m.number();
  return ball ? Net::ball(centre, size, radius) : Net::box(centre, size, radius);
}

void put(Channel& channel, const ProductGrid& grid) {
  put(channel, grid.centre);
  put(channel, grid.half_width);
  put(channel, grid.cells);
}
ProductGrid Get<ProductGrid>::from(Message& m) {
  ProductGrid grid;
  grid.centre = get<Vector>(m);
  grid.half_width = m.number();
  grid.cells = m.integer();
  return grid;
}

void put(Channel& channel, const PublicFacts& facts) {
  put(channel, facts.name);
  put(channel, facts.dimension);
  put(channel, facts.records);
  put(channel, facts.dual_kind);
  put(channel, facts.dual_dimension);
  put(channel, facts.feature_bound);
  put(channel, facts.domain);
  put(channel, facts.dual_domain);
  put(channel, facts.initial_point);
  put(channel, facts.initial_dual);
  put(channel, facts.separable);
  put(channel, static_cast<std::int64_t>(facts.constants.all().size()));
  for (const auto& [name, constant] : facts.constants.all()) {
    put(channel, name);
    put(channel, constant.value);
    put(channel, constant.origin);
    put(channel, constant.region);
    put(channel, constant.proof);
    put(channel, constant.attained);
  }
}
PublicFacts Get<PublicFacts>::from(Message& m) {
  PublicFacts facts;
  facts.name = get<std::string>(m);
  facts.dimension = m.integer();
  facts.records = m.integer();
  facts.dual_kind = get<DualKind>(m);
  facts.dual_dimension = m.integer();
  facts.feature_bound = m.number();
  facts.domain = get<Domain>(m);
  facts.dual_domain = get<Domain>(m);
  facts.initial_point = get<Vector>(m);
  facts.initial_dual = get<Vector>(m);
  facts.separable = m.boolean();
  for (std::int64_t k = count(m); k > 0; --k) {
    const std::string name = get<std::string>(m);
    Constant constant;
    constant.value = m.number();
    constant.origin = get<Origin>(m);
    constant.region = get<std::string>(m);
    constant.proof = get<std::string>(m);
    constant.attained = m.number();
    facts.constants.set(name, std::move(constant));
  }
  return facts;
}

void put(Channel& channel, const Remaining& remaining) {
  put(channel, remaining.share);
  put(channel, remaining.fresh_records);
  put(channel, remaining.pure_share);
}
Remaining Get<Remaining>::from(Message& m) {
  Remaining remaining{};
  remaining.share = m.number();
  remaining.fresh_records = m.integer();
  remaining.pure_share = m.number();
  return remaining;
}

void put(Channel& channel, const std::map<std::string, std::string>& texts) {
  put(channel, static_cast<std::int64_t>(texts.size()));
  for (const auto& [name, text] : texts) {
    put(channel, name);
    put(channel, text);
  }
}
std::map<std::string, std::string> Get<std::map<std::string, std::string>>::from(Message& m) {
  std::map<std::string, std::string> texts;
  for (std::int64_t k = count(m); k > 0; --k) {
    std::string name = get<std::string>(m);
    texts[std::move(name)] = get<std::string>(m);
  }
  return texts;
}

void put(Channel& channel, const Preparation& how) {
  put(channel, how.budget.epsilon);
  put(channel, how.budget.delta);
  put(channel, how.calibrator);
  put(channel, how.variant);
  put(channel, how.schedule);
  put(channel, how.noise);
  put(channel, how.noise_queries);
  put(channel, how.facts_changed);
  put(channel, how.settings);
}
Preparation Get<Preparation>::from(Message& m) {
  Preparation how;
  how.budget.epsilon = m.number();
  how.budget.delta = m.number();
  how.calibrator = get<Calibrator>(m);
  how.variant = get<Variant>(m);
  how.schedule = get<Schedule>(m);
  how.noise = get<NoiseRule>(m);
  how.noise_queries = m.integer();
  how.facts_changed = m.boolean();
  how.settings = get<std::map<std::string, std::string>>(m);
  return how;
}

void put(Channel& channel, const Ready& ready) {
  put(channel, ready.rule.calibrator);
  put(channel, ready.rule.order);
  put(channel, ready.whole ? std::nullopt : std::optional(ready.rule.capacity));
  put(channel, ready.rule.pure_capacity);
  put(channel, ready.rule.delta_extra);
  put(channel, ready.rule.alone_epsilon);
  put(channel, ready.scheduled.alpha);
  put(channel, ready.scheduled.utility);
  put(channel, ready.scheduled.note);
  put(channel, ready.scheduled.excess_risk);
  put(channel, ready.scheduled.bound_failure);
  put(channel, ready.parameters);
}
Ready Get<Ready>::from(Message& m) {
  Ready ready;
  ready.rule.calibrator = get<Calibrator>(m);
  ready.rule.order = get<std::optional<double>>(m);
  const auto capacity = get<std::optional<double>>(m);
  ready.whole = !capacity;
  ready.rule.capacity = capacity.value_or(0.0);
  ready.rule.pure_capacity = m.number();
  ready.rule.delta_extra = m.number();
  ready.rule.alone_epsilon = m.number();
  ready.scheduled.alpha = m.number();
  ready.scheduled.utility = get<Utility>(m);
  ready.scheduled.note = get<std::string>(m);
  ready.scheduled.excess_risk = m.number();
  ready.scheduled.bound_failure = m.number();
  ready.parameters = get<std::map<std::string, std::string>>(m);
  return ready;
}

void put(Channel& channel, const Outcome& outcome) {
  put(channel, outcome.status);
  put(channel, outcome.steps);
  put(channel, outcome.point);
  put(channel, static_cast<std::int64_t>(outcome.counts.size()));
  for (const auto& [name, value] : outcome.counts) {
    put(channel, name);
    put(channel, value);
  }
}
Outcome Get<Outcome>::from(Message& m) {
  Outcome outcome;
  outcome.status = get<Status>(m);
  outcome.steps = m.integer();
  outcome.point = get<Vector>(m);
  for (std::int64_t k = count(m); k > 0; --k) {
    const std::string name = get<std::string>(m);
    outcome.counts[name] = m.integer();
  }
  return outcome;
}

}  // namespace dpsosp::wire
