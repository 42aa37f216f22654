// SPDX-License-Identifier: Apache-2.0
// Records that hold any vectors, and a curator over them whose every release can be replayed.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "../trusted/written_records.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"

namespace dpsosp::testing {

/// ∇f(z; i) = offset_i + slope_i ∘ z with z = (x, y): any vector at one point, and any difference
/// of gradients between two points that differ in every entry.
struct Data {
  Data(Index entries, Index records)
      : offset(Matrix::Zero(entries, records)), slope(Matrix::Zero(entries, records)) {}
  Matrix offset;  // (d + d₂) × n
  Matrix slope;
};

class ListRecords final : public test::WrittenRecords {
 public:
  ListRecords(Data data, Index dimension)
      : WrittenRecords(data.offset.cols()), data_(std::move(data)), dimension_(dimension) {}

  mutable std::set<Index> read;  ///< every record that was looked at
  bool throws = false;           ///< every sum fails at its first record

 private:
  Vector of(Index i, const Summand& s) const override {
    if (s.kind != Summand::Kind::gradient) refuse(s);
    read.insert(i);
    if (throws) throw InputError("records: cannot answer");
    Vector v = at(s.point, i);
    if (s.previous) v -= at(*s.previous, i);
    if (s.block == Block::x) return v.head(dimension_);
    if (s.block == Block::y) return v.tail(v.size() - dimension_);
    return v;
  }
  Vector at(const Point& point, Index i) const {
    Vector z = Vector::Zero(data_.offset.rows());
    z.head(point.x.size()) = point.x;
    if (point.has_dual()) z.tail(point.y.size()) = point.y;
    return data_.offset.col(i) + data_.slope.col(i).cwiseProduct(z);
  }

  Data data_;
  Index dimension_;
};

constexpr Index d = 3;   // of x
constexpr Index d2 = 2;  // of y
constexpr Index entries_of(Block block) {
  return (block == Block::y ? 0 : d) + (block == Block::x ? 0 : d2);
}

inline PublicFacts facts_of(Index records) {
  PublicFacts facts;
  facts.name = "list";
  facts.dimension = d;
  facts.records = records;
  facts.dual_kind = DualKind::shared;
  facts.dual_dimension = d2;
  facts.initial_point = Vector::Zero(d);
  facts.initial_dual = Vector::Zero(d2);
  return facts;
}

/// zCDP of at most `capacity`.
inline FilterRule zcdp_rule(double capacity) { return {Calibrator::cks, {}, capacity}; }

/// A data set and a curator of it. Two of these with one key draw the same coins and noise, so the
/// difference of their releases is the difference of what was read from the records.
template <class Sums, class Made = Curator>
struct HouseOf {
  template <class... Rest>
  HouseOf(PublicFacts of, Sums sums, Rest&&... rest)
      : facts(std::move(of)),
        records(std::move(sums)),
        curator(facts, records, std::forward<Rest>(rest)...) {}
  HouseOf(const HouseOf&) = delete;
  HouseOf& operator=(const HouseOf&) = delete;

  PublicFacts facts;
  Sums records;
  Made curator;
};

struct House : HouseOf<ListRecords> {
  explicit House(const Data& data, StreamKey key = {.seed = 1}, FilterRule rule = zcdp_rule(1e9))
      : HouseOf(facts_of(data.offset.cols()), ListRecords(data, d), rule, key) {}
};

struct UnsoundHouse : HouseOf<ListRecords, UnsoundCurator> {
  UnsoundHouse(const Data& data, const Departures& departures, StreamKey key = {.seed = 1})
      : HouseOf(facts_of(data.offset.cols()), ListRecords(data, d), key, departures) {}
};

/// Two places that differ in every entry.
struct Places {
  Places() : x(d), y(d2), x_before(d), y_before(d2) {
    x << 0.7, -0.4, 1.1;
    y << -0.9, 0.3;
    x_before << 0.2, 0.5, -0.3;
    y_before << 0.6, -0.8;
  }
  Point to() const { return Point(x, y); }
  Point from() const { return Point(x_before, y_before); }
  Vector x, y, x_before, y_before;
};

/// A record whose gradient at `to` and whose difference from `from` are both `value`.
inline void set_record(Data& data, Index i, const Vector& value, const Places& places) {
  Vector z(d + d2), z_before(d + d2);
  z << places.x, places.y;
  z_before << places.x_before, places.y_before;
  data.slope.col(i) = value.cwiseQuotient(z - z_before);
  data.offset.col(i) = value - data.slope.col(i).cwiseProduct(z);
}

/// Every record random, from far below to 100 times beyond `limit`.
inline Data random_data(Index records, double limit, Stream& stream) {
  Data data(d + d2, records);
  const Places places;
  for (Index i = 0; i < records; ++i) {
    Vector v(d + d2);
    stream.fill_normal(1.0, v);
    set_record(data, i, v.normalized() * limit * std::pow(10.0, 4.0 * stream.uniform() - 2.0),
               places);
  }
  return data;
}

enum class Kind { gradient, difference };

/// One query at the places above.
inline Vector ask(Curator& curator, Kind kind, const Batch& batch, const GradientQuery& query) {
  const Places places;
  Vector out(entries_of(query.block));
  if (kind == Kind::gradient)
    curator.gradient(places.to(), batch, query, out);
  else
    curator.gradient_difference(places.to(), places.from(), batch, query, out);
  return out;
}

inline bool same_bits(const Vector& a, const Vector& b) {
  if (a.size() != b.size()) return false;
  for (Index j = 0; j < a.size(); ++j)
    if (std::bit_cast<std::uint64_t>(a[j]) != std::bit_cast<std::uint64_t>(b[j])) return false;
  return true;
}

/// zCDP that the ledger lists for each record, entry by entry; unsampled Gaussian events only.
inline std::vector<double> zcdp_by_record(const Ledger& ledger, Index records) {
  std::vector<double> rho(static_cast<std::size_t>(records), 0.0);
  for (const LedgerEntry& e : ledger.entries()) {
    const double z = std::get<GaussianEvent>(*e.event).noise_multiplier;
    for (Index i = e.charged.begin; i < e.charged.end; ++i)
      rho[static_cast<std::size_t>(i)] += static_cast<double>(e.count) / (2.0 * z * z);
  }
  return rho;
}

}  // namespace dpsosp::testing
