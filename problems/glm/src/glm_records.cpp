// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "dpsosp/trusted/simulate.hpp"

namespace dpsosp {
namespace {

/// g, as the sums over records ask for it.
class CommonPenalty final : public CommonLoss {
 public:
  explicit CommonPenalty(Penalty penalty) : penalty_(std::move(penalty)) {}

  double value(ConstVectorRef w) const override { return penalty_.value(w); }
  void gradient(ConstVectorRef w, VectorRef out) const override {
    out.setZero();
    penalty_.add_gradient(w, out);
  }
  void hessian_product(const Point& point, const Point* previous, ConstVectorRef v,
                       VectorRef out) const override {
    out = diagonal(point, previous).cwiseProduct(v);
  }
  double hessian_bound(const Point& point, const Point* previous) const override {
    return diagonal(point, previous).cwiseAbs().maxCoeff();
  }

 private:
  Vector diagonal(const Point& point, const Point* previous) const {
    Vector made = Vector::Zero(point.x.size());
    if (previous != nullptr) {
      penalty_.add_curvature(previous->x, made);
      made = -made;
    }
    penalty_.add_curvature(point.x, made);
    return made;
  }

  Penalty penalty_;
};

RowLoss row_loss(const GlmModel& model) {
  RowLoss made{model.problem, model.loss->derivatives()};
  if (model.penalty.weight != 0) made.common = std::make_shared<CommonPenalty>(model.penalty);
  return made;
}

/// Multinomial, so that a sum costs K records whatever the batch, and every record is still clipped
/// on its own.
class AtomCounts final : public Multiplicity {
 public:
  AtomCounts(std::string problem, Index atoms, const GlmSupport& support)
      : problem_(std::move(problem)), atoms_(atoms), support_(support) {}

  Index size() const override { return support_.records; }
  std::shared_ptr<const std::vector<Index>> of(const BatchView& batch) const override {
    check_simulated_batch(problem_, support_.sampling, batch, support_.records);
    return drawn_.of(RangeKey(batch.begin(), batch.size()), [&] {
      return atom_counts(atoms_, support_.data_seed, batch.begin(), batch.size());
    });
  }

 private:
  std::string problem_;
  Index atoms_;
  GlmSupport support_;
  Last<RangeKey, std::vector<Index>> drawn_;
};

}  // namespace

std::unique_ptr<const AnyRecords> glm_records(GlmModel model, std::shared_ptr<const GlmData> data) {
  return admit(row_loss(model), RecordTable(std::move(data)));
}

std::unique_ptr<const SimulatedSums> glm_atom_sums(GlmModel model,
                                                   std::shared_ptr<const GlmData> atoms,
                                                   const GlmSupport& support) {
  auto counts = std::make_shared<AtomCounts>(model.problem, atoms->labels.size(), support);
  return simulate(row_loss(model), RecordTable(std::move(atoms)), std::move(counts));
}

std::vector<Index> atom_counts(Index atoms, std::uint64_t data_seed, Index begin, Index size) {
  Stream stream = range_stream(data_seed, begin, size);
  std::vector<Index> counts(static_cast<std::size_t>(atoms));
  Index left = size;
  for (Index k = 0; k < atoms; ++k) {
    const Index chosen =
        k + 1 < atoms ? stream.binomial(left, 1.0 / static_cast<double>(atoms - k)) : left;
    counts[static_cast<std::size_t>(k)] = chosen;
    left -= chosen;
  }
  return counts;
}

}  // namespace dpsosp
