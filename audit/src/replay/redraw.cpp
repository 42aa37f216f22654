// SPDX-License-Identifier: Apache-2.0
#include "replay/redraw.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "replay/transcript.hpp"

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

/// The losses that a Gibbs draw looked at, in their order.
class ToldLosses final : public SampledLoss {
 public:
  ToldLosses(const std::vector<double>& told, Index count, double bound)
      : told_(told), count_(count), bound_(bound) {}
  Index count() const override { return count_; }
  double one(Index, ConstVectorRef) override { return next(); }
  double mean(ConstVectorRef) override { return next(); }
  bool all_used() const { return used_ == told_.size(); }

 private:
  /// Beyond the end, one that any method accepts soon.
  double next() {
    return used_ < told_.size() ? told_[used_++] : (used_ = told_.size() + 1, -bound_);
  }

  const std::vector<double>& told_;
  Index count_;
  double bound_;
  std::size_t used_ = 0;
};

std::uint64_t fingerprint_of(const std::vector<Index>& members) {
  std::uint64_t value = members.size();
  for (const Index i : members)
    value = (std::rotl(value, 23) ^ static_cast<std::uint64_t>(i)) * 0x9e3779b97f4a7c15U;
  return value;
}

StreamKey with_purpose(StreamKey key, Purpose purpose) {
  key.purpose = purpose;
  return key;
}

}  // namespace

Redraw::Streams::Streams(StreamKey key)
    : noise(with_purpose(key, Purpose::noise)),
      choice(with_purpose(key, Purpose::choice)),
      sampling(with_purpose(key, Purpose::sampling)) {}

Redraw::Redraw(Auditor& inner, const Neighbour& records, StreamKey key, bool exact)
    : inner_(inner),
      records_(records),
      key_(key),
      words_(exact ? std::make_unique<SeededWords>(key) : nullptr),
      root_(key_) {}

Redraw::Streams& Redraw::streams(std::uint64_t path) {
  if (path == key_.path) return root_;
  StreamKey key = key_;
  key.path = path;
  return streams_.try_emplace(path, key).first->second;
}

void Redraw::complain(std::string_view what) {
  if (complaint_.empty())
    complaint_ = fmt::format("answer {}, a {}: {}", answers_, name_of(what_.kind), what);
}

void Redraw::answer(const AuditedAnswer& what, VectorRef value) {
  what_ = what;
  ++answers_;
  check_read();
  const Vector before = value;
  inner_.answer(what, value);
  answer_ = what.exact ? before : Vector(value);  // a lattice answer cannot be replaced
  if (what.kind == Kind::score) enter_race(answer_[0]);
  if (what.kind == Kind::loss) losses_.push_back(answer_[0]);
}

void Redraw::drawn(const DrawnBatch& batch) {
  ++redrawn_;
  Streams& own = streams(batch.path);
  const Index n = batch.range.end - batch.range.begin;
  std::vector<Index> members;
  if (batch.policy.kind == BatchPolicy::Kind::sample)
    own.sampling.subset(n, batch.policy.size, members);
  else
    own.sampling.bernoulli_subset(n, batch.policy.rate, members);
  for (Index& i : members) i += batch.range.begin;
  if (complaint_.empty() && members != batch.members)
    complaint_ = fmt::format(
        "after answer {}: a batch of {} records is not the next of its curator's stream", answers_,
        batch.members.size());
  own.batches.insert(fingerprint_of(batch.members));
  inner_.drawn(batch);
}

void Redraw::check_read() {
  const std::vector<Index>* members = records_.secret_asked();
  if (members != nullptr && !streams(what_.path).batches.contains(fingerprint_of(*members)))
    complain("a batch is read that its curator did not draw");
}

void Redraw::enter_race(double score) {
  Stream& words = streams(what_.path).choice;
  const std::int64_t next = race_.empty() ? 0 : race_.back().first + 1;
  // Candidates that cannot be chosen have two words each, too.
  words.skip(2 * static_cast<std::uint64_t>(std::max<std::int64_t>(0, what_.index - next)));
  race_.emplace_back(what_.index, words.gumbel() - score / what_.deviation);
}

void Redraw::check_choice(double chosen) {
  const auto own = std::ranges::find(race_, static_cast<std::int64_t>(chosen),
                                     &std::pair<std::int64_t, double>::first);
  const double best = std::ranges::max(race_, {}, &std::pair<std::int64_t, double>::second).second;
  // A temperature is rounded: what is next to nothing may decide otherwise.
  const double rounding = 1e-12 * (1 + std::abs(best));
  if (own == race_.end() || !(own->second >= best - rounding))
    complain("another choice is made than by the next words of its curator's stream");
  streams(what_.path)
      .choice.skip(2 * static_cast<std::uint64_t>(what_.count - 1 - race_.back().first));
  race_.clear();
}

void Redraw::check_gibbs(ConstVectorRef drawn) {
  ToldLosses told(losses_, static_cast<Index>(what_.count), what_.law->bound);
  Vector again(drawn.size());
  AlternateSampler(*what_.law).sample(told, streams(what_.path).noise, again);
  if (!told.all_used() || !same_bits(again, drawn))
    complain("another Gibbs draw is made than by the next words of its curator's stream");
  losses_.clear();
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
  Stream& stream = streams(what_.path).noise;
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
  ++redrawn_;
  if (what_.kind == Kind::score) {
    check_choice(value[0]);
  } else if (what_.kind == Kind::loss) {
    check_gibbs(value);
  } else {
    const Vector right = what_.exact ? expected_exactly() : expected();
    if (!same_bits(right, value))
      complain(fmt::format("{:.17g} is released where answer and noise are {:.17g}", value[0],
                           right[0]));
    if (what_.exact) {
      const double spacing = ExactNoise(what_.deviation).spacing;
      if (!on_lattice(answer_, spacing) || !on_lattice(value, spacing))
        complain("an exact answer is not on its lattice");
    }
  }
  inner_.noisy(value);
}

}  // namespace dpsosp::audit
