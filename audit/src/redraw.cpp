// SPDX-License-Identifier: Apache-2.0
#include "redraw.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "transcript.hpp"

namespace dpsosp::audit {
namespace {

using Kind = AuditedAnswer::Kind;

/// The lattice of exact noise: its spacing, and the deviation in spacings (security notes of
/// LatticeVector).
struct ExactNoise {
  explicit ExactNoise(double deviation)
      : spacing(std::ldexp(1.0, std::ilogb(deviation) - 40)),
        sigma(static_cast<std::int64_t>(std::ceil(deviation / spacing * (1.0 + 0x1p-29)))) {}
  double spacing;
  std::int64_t sigma;
};

bool on_lattice(const Vector& value, double spacing) {
  for (const double entry : value)
    if (std::nearbyint(entry / spacing) * spacing != entry) return false;
  return true;
}

}  // namespace

Redraw::Redraw(Auditor& inner, StreamKey key, bool exact)
    : inner_(inner),
      key_{key.seed, key.run, Purpose::noise, key.path},
      words_(exact ? std::make_unique<SeededWords>(key) : nullptr),
      root_(key_) {}

Stream& Redraw::stream() {
  if (what_.path == key_.path) return root_;
  StreamKey key = key_;
  key.path = what_.path;
  return streams_.try_emplace(what_.path, key).first->second;
}

void Redraw::answer(const AuditedAnswer& what, VectorRef value) {
  what_ = what;
  ++answers_;
  const Vector before = value;
  inner_.answer(what, value);
  answer_ = what.exact ? before : Vector(value);  // a lattice answer cannot be replaced
  if (what.kind == Kind::loss) lost_.insert(what.path);
}

Redraw::Nodes& Redraw::next_nodes(const Vector& node) {
  Nodes& nodes = trees_[what_.session];
  if (what_.index == 1) nodes.clear();
  const auto level =
      static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(what_.index)));
  nodes.resize(std::max(nodes.size(), level + 1));
  for (std::size_t k = 0; k < level; ++k) nodes[k].resize(0);
  nodes[level] = node;
  return nodes;
}

Vector Redraw::expected() {
  Stream& stream = this->stream();
  const Index size = answer_.size();
  Vector noise(size);
  switch (what_.kind) {
    case Kind::vector:
      stream.fill_normal(what_.deviation, noise);
      return answer_ + noise;
    case Kind::prefix: {
      stream.fill_normal(what_.deviation, noise);
      Vector sum = answer_;
      for (const Vector& node : next_nodes(noise))
        if (node.size() > 0) sum += node;
      return sum;
    }
    case Kind::matrix: {
      const auto d = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(size))));
      for (Index j = 0; j < d; ++j) {
        for (Index i = 0; i < j; ++i)
          noise[i + j * d] = noise[j + i * d] = what_.deviation * stream.normal();
        noise[j + j * d] = std::numbers::sqrt2 * what_.deviation * stream.normal();
      }
      return answer_ + noise;
    }
    default:
      return answer_ + Vector::Constant(1, what_.deviation * stream.laplace());
  }
}

Vector Redraw::expected_exactly() {
  const ExactNoise law(what_.deviation);
  Vector noise(answer_.size());
  for (double& entry : noise)
    entry = static_cast<double>(discrete_gaussian(*words_, law.sigma)) * law.spacing;
  if (what_.kind != Kind::prefix) return answer_ + noise;
  Vector sum = answer_;
  for (const Vector& node : next_nodes(noise))
    if (node.size() > 0) sum += node;
  return sum;
}

void Redraw::noisy(VectorRef value) {
  const bool choice = what_.kind == Kind::score || what_.kind == Kind::loss;
  if (!choice && !lost_.contains(what_.path)) {
    ++redrawn_;
    const Vector right = what_.exact ? expected_exactly() : expected();
    if (complaint_.empty() && !same_bits(right, value))
      complaint_ = fmt::format(
          "answer {}, a {}: {:.17g} is released where answer and noise are "
          "{:.17g}",
          answers_,
          name_of(what_.kind),
          value[0],
          right[0]);
    if (complaint_.empty() && what_.exact) {
      const double spacing = ExactNoise(what_.deviation).spacing;
      if (!on_lattice(answer_, spacing) || !on_lattice(value, spacing))
        complaint_ = fmt::format("answer {}, a {}: an exact answer is not on its lattice",
                                 answers_,
                                 name_of(what_.kind));
    }
  }
  inner_.noisy(value);
}

}  // namespace dpsosp::audit
