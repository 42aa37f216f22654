// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/trusted/private_records.hpp"
#include "dpsosp/trusted/row_sums.hpp"

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
  void hessian_product(const Point& point,
                       const Point* previous,
                       ConstVectorRef v,
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

/// How often each of K atoms occurs in a batch is multinomial, so that a sum costs K records
/// whatever the batch, and every record is still clipped on its own.
class GlmAtomSums final : public AnsweredBy<SimulatedSums> {
 public:
  GlmAtomSums(std::string problem, std::unique_ptr<const ClippedSums> atoms, GlmSupport support)
      : AnsweredBy(std::move(atoms)), problem_(std::move(problem)), support_(support) {}

  Index size() const override { return support_.records; }
  std::unique_ptr<const SimulatedSums> projected(const Matrix& map, double cap) const override {
    return std::make_unique<GlmAtomSums>(problem_, sums().projected(map, cap), support_);
  }

 private:
  Members members_of(const BatchView& batch) const override {
    check_simulated_batch(problem_, support_.sampling, batch, support_.records);
    const Index atoms = sums().table().size();
    return {BatchView(0, atoms), drawn_.of(RangeKey(batch.begin(), batch.size()), [&] {
              return atom_counts(atoms, support_.data_seed, batch.begin(), batch.size());
            })};
  }

  std::string problem_;
  GlmSupport support_;
  Last<RangeKey, std::vector<Index>> drawn_;
};

}  // namespace

std::unique_ptr<const Records> glm_records(GlmModel model, std::shared_ptr<const GlmData> data) {
  return admit(row_loss(model), RecordTable(std::move(data)));
}

std::unique_ptr<const SimulatedSums> glm_atom_sums(GlmModel model,
                                                   std::shared_ptr<const GlmData> atoms,
                                                   const GlmSupport& support) {
  return std::make_unique<GlmAtomSums>(
      model.problem,
      std::make_unique<RowSums>(row_loss(model), RecordTable(std::move(atoms))),
      support);
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
