// SPDX-License-Identifier: Apache-2.0
#include "sums.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::audit {
namespace {

/// Sums at a random point, with another one near it and a random direction.
class Sums {
 public:
  using Add = std::function<void(const BatchView& batch, double limit, VectorRef out)>;
  struct Sum {
    std::string_view name;
    Index entries;
    double scale;  ///< of the limit
    Add add;
  };

  explicit Sums(const Problem& problem) : records_(*problem.records) {
    const PublicFacts& facts = problem.facts;
    const auto near = [&](const Vector& centre, const Domain& domain, std::uint64_t seed) {
      Vector x = centre;
      Stream({.seed = seed, .purpose = Purpose::test}).add_normal(0.1, x);
      domain.project(x);
      return x;
    };
    minimax_ = facts.dual_kind != DualKind::none;
    x_ = near(facts.initial_point, facts.domain, 1);
    other_x_ = near(facts.initial_point, facts.domain, 2);
    if (minimax_) {
      y_ = near(facts.initial_dual, facts.dual_domain, 3);
      other_y_ = near(facts.initial_dual, facts.dual_domain, 4);
    }
    v_.resize(x_.size());
    Stream({.seed = 5, .purpose = Purpose::test}).fill_normal(1.0, v_);
  }

  std::vector<Sum> all(bool gradients_only) const {
    const Block block = minimax_ ? Block::joint : Block::x;
    const Index d = x_.size(), entries = d + y_.size();
    std::vector<Sum> sums{
        {"gradients", entries, 1.0, [=, this](const BatchView& batch, double limit, VectorRef out) {
           records_.add_gradients(here(), block, batch, limit, out);
         }}};
    if (gradients_only) return sums;
    if (minimax_) {
      for (const auto& [name, of, size] : {std::tuple{"gradients in x", Block::x, d},
                                           std::tuple{"gradients in y", Block::y, y_.size()}})
        sums.push_back(
            {name, size, 1.0, [=, this](const BatchView& batch, double limit, VectorRef out) {
               records_.add_gradients(here(), of, batch, limit, out);
             }});
    }
    if (records_.separable())
      sums.push_back({"differences of losses along a coordinate",
                      3,
                      0.5,
                      [this](const BatchView& batch, double limit, VectorRef out) {
                        const Vector values = Vector{{-0.3, 0.1, 0.5}}.array() + x_[0];
                        records_.add_coordinate_loss_differences(
                            0, values, x_[0], batch, limit, out);
                      }});
    sums.push_back({"differences of gradients",
                    entries,
                    1.0,
                    [=, this](const BatchView& batch, double limit, VectorRef out) {
                      records_.add_gradient_differences(here(), there(), block, batch, limit, out);
                    }});
    if (!minimax_)
      sums.push_back({"differences of losses",
                      1,
                      1.0,
                      [this](const BatchView& batch, double limit, VectorRef out) {
                        records_.add_loss_differences(here(), there(), batch, limit, out[0]);
                      }});
    if (!records_.has_second_order()) return sums;
    sums.push_back({"Hessian products",
                    d,
                    v_.norm(),
                    [this](const BatchView& batch, double limit, VectorRef out) {
                      records_.add_hessian_products(here(), v_, batch, limit, out);
                    }});
    sums.push_back({"differences of Hessian products",
                    d,
                    v_.norm(),
                    [this](const BatchView& batch, double limit, VectorRef out) {
                      records_.add_hessian_difference_products(
                          here(), there(), v_, batch, limit, out);
                    }});
    return sums;
  }

 private:
  Point here() const { return minimax_ ? Point(x_, y_) : Point(x_); }
  Point there() const { return minimax_ ? Point(other_x_, other_y_) : Point(other_x_); }

  const Records& records_;
  bool minimax_;
  Vector x_, y_, other_x_, other_y_, v_;
};

struct NamedBatch {
  std::string name;
  BatchView batch;
};

}  // namespace

FurthestSum furthest_sum(const Problem& problem, const SumSizes& sizes) {
  const Index n = problem.records->size();
  const Index count = sizes.most_records == 0 ? n : std::min(n, sizes.most_records);
  std::vector<Index> third;
  for (Index i = count % 3; i < count; i += 3) third.push_back(i);
  std::vector<NamedBatch> batches{{fmt::format("records 0 to {}", count), BatchView(0, count)}};
  if (count > 8)
    batches.push_back({fmt::format("records 3 to {}", count - 2), BatchView(3, count - 2)});
  if (!third.empty()) batches.push_back({"every third record", BatchView(third)});
  FurthestSum furthest;
  const Sums sums(problem);
  for (const Sums::Sum& of : sums.all(sizes.gradients_only)) {
    const auto sum = [&](const BatchView& batch, double limit) {
      Vector out = Vector::Zero(of.entries);
      of.add(batch, limit, out);
      return out;
    };
    std::vector<double> norms;
    for (Index i = 0; i < count; ++i)
      norms.push_back(sum(BatchView(i, i + 1), std::numeric_limits<double>::infinity()).norm() /
                      of.scale);
    if (!std::ranges::all_of(norms, [](double norm) { return std::isfinite(norm); }))
      return {std::numeric_limits<double>::infinity(),
              fmt::format("{} of single records", of.name)};
    std::ranges::sort(norms);
    for (const double limit : {0.1 * norms.front(), norms[norms.size() / 2], 0.5 * norms.back()}) {
      if (!(limit > 0)) continue;
      Matrix each(of.entries, count);
      for (Index i = 0; i < count; ++i) each.col(i) = sum(BatchView(i, i + 1), limit);
      for (const auto& [name, batch] : batches) {
        Vector apart = sum(batch, limit);
        for (Index k = 0; k < batch.size(); ++k) apart -= each.col(batch[k]);
        const double distance =
            apart.norm() / (limit * of.scale * static_cast<double>(batch.size()));
        ++furthest.compared;
        if (!std::isfinite(distance))
          return {std::numeric_limits<double>::infinity(),
                  fmt::format("{} over {}", of.name, name)};
        if (distance <= furthest.distance) continue;
        furthest.distance = distance;
        furthest.what = fmt::format("{} over {}", of.name, name);
      }
    }
  }
  return furthest;
}

std::string complaint_of_rank(const Problem& problem, std::uint64_t seed) {
  const Records& records = *problem.records;
  const Index d = problem.facts.dimension;
  const Index rank = records.has_second_order() ? records.hessian_rank() : 0;
  if (rank == 0 || rank >= d) return {};
  Stream stream({.seed = seed, .purpose = Purpose::test});
  constexpr int trials = 20;
  for (int trial = 0; trial < trials; ++trial) {
    Vector x = Vector::Zero(d);
    const Index from = stream.below(d), entries = 1 + stream.below(d - from);
    for (Index j = from; j < from + entries; ++j) x[j] = 2.0 * stream.normal();
    problem.facts.domain.project(x);
    const Index i = stream.below(records.size());
    Matrix hessian = Matrix::Zero(d, d);
    for (Index j = 0; j < d; ++j)
      records.add_hessian_products(Point(x),
                                   Vector::Unit(d, j),
                                   BatchView(i, i + 1),
                                   std::numeric_limits<double>::infinity(),
                                   hessian.col(j));
    const Vector values = singular_values(hessian);
    if (!(values[rank] <= 1e-10 * values[0]))
      return fmt::format(
          "a record's Hessian has more than {} singular values, the next is {:.3g} "
          "of the first",
          rank,
          values[rank] / values[0]);
  }
  return {};
}

std::string complaint_of_sums(std::uint64_t seed) {
  constexpr double rounding = 1e-10;
  constexpr int least = 100;
  int compared = 0;
  for (const ProblemEntry& entry : problem_registry()) {
    std::optional<Problem> problem;
    try {
      const auto family = entry.create();
      const Index d = family->make({.records = 8}).facts.dimension;
      // Chunks are of max(256, 16384/d, n/64) records.
      problem = family->make({.records = std::max<Index>(600, 36'000 / d)});
    } catch (const InputError&) {  // its data are not here
      continue;
    }
    if (!problem->records) continue;
    const FurthestSum furthest = furthest_sum(*problem);
    compared += furthest.compared;
    if (!(furthest.distance <= rounding))
      return fmt::format("{}: {} differ by {:.3g} of the limit a record",
                         entry.name,
                         furthest.what,
                         furthest.distance);
    if (const std::string complaint = complaint_of_rank(*problem, seed); !complaint.empty())
      return fmt::format("{}: {}", entry.name, complaint);
  }
  return compared >= least ? "" : fmt::format("only {} sums could be compared", compared);
}

}  // namespace dpsosp::audit
