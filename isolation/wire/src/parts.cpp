// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/wire/parts.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace dpsosp::wire {
namespace {

static_assert(std::endian::native == std::endian::little);

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

}  // namespace

std::int64_t get_count(Message& message) {
  constexpr std::int64_t most = 4096;
  const std::int64_t n = message.integer();
  if (n < 0 || n > most) throw Broken("a table of names is too long");
  return n;
}

bool Get<bool>::from(Message& m) { return m.boolean(); }
double Get<double>::from(Message& m) { return m.number(); }
std::int64_t Get<std::int64_t>::from(Message& m) { return m.integer(); }
std::string Get<std::string>::from(Message& m) { return std::string(m.text()); }

void put(Channel& channel, const Vector& vector) {
  put_entries(channel, vector.data(), vector.size());
}
void put(Channel& channel, ConstVectorRef vector) {
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

void put(Channel& channel, const Constants& constants) {
  put(channel, static_cast<std::int64_t>(constants.all().size()));
  for (const auto& [name, constant] : constants.all()) {
    put(channel, name);
    put(channel, constant);
  }
}
Constants Get<Constants>::from(Message& m) {
  Constants constants;
  for (std::int64_t k = get_count(m); k > 0; --k) {
    const std::string name = get<std::string>(m);
    constants.set(name, get<Constant>(m));
  }
  return constants;
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
  put(channel, ready.plan);
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
  ready.plan = get<std::vector<PlannedQuery>>(m);
  return ready;
}

void put(Channel& channel, const PlanNoise& noise) {
  put(channel, noise.sensitivity_ratio);
  put(channel, noise.calibrator);
  put(channel, noise.order);
  put(channel, noise.queries);
  put(channel, noise.deviations);
}

}  // namespace dpsosp::wire
