// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "dpsosp/networks/examples.hpp"
#include "dpsosp/networks/network.hpp"
#include "dpsosp/problems/objective.hpp"
#include "dpsosp/trusted/records.hpp"

/// The cross entropy of a network's scores and a record's label.
namespace dpsosp::networks {

/// Type and device of what is computed.
struct Computation {
  torch::Dtype type = torch::kFloat;
  torch::Device device = torch::kCPU;
  torch::TensorOptions options() const { return torch::TensorOptions(type).device(device); }
};

/// Several records' losses at one point are computed in chunks of this many, a power of two up to
/// 64: so many that rows of their gradients take some 256 MB at most, and what their passes keep
/// 1 GB, in single precision. A function of the network alone.
Index records_a_chunk(const Network& network);

/// Training records of a network. A record's gradient is clipped as a whole, all layers together,
/// to a little less than the limit (0.1 % in single precision), so that rounding cannot lengthen
/// it.
///
/// Where the network mixes records, what stands for a record's gradient is its contribution, the
/// part of the batch's gradient that passes through the record's own activations: the sum over a
/// batch is the gradient, and a clip bounds no sensitivity (`separate`).
class NetworkRecords final : public UncheckedRecords {
 public:
  NetworkRecords(std::shared_ptr<const Network> network, std::shared_ptr<const Examples> examples,
                 const Computation& computation);

  Index size() const override { return examples_->size(); }
  bool separate() const override { return !network_->mixes_records(); }
  ClipReport add(const Summand& summand, const BatchView& batch, double limit,
                 VectorRef out) const override;
  /// The norms of the last sum of gradients are kept, so that the count of longer ones after an
  /// unclipped sum costs nothing.
  Index longer(const Summand& summand, const BatchView& batch, double limit) const override;

  /// ‖∇f(x; z_i)‖ of every record of the batch, in its order.
  std::vector<double> norms(ConstVectorRef x, const BatchView& batch) const;

 private:
  struct Norms {
    Vector point;
    std::vector<Index> members;
    std::vector<double> values;
  };
  using Members = std::vector<Index>;
  ClipReport sum_gradients(ConstVectorRef x, Members members, double limit, VectorRef out) const;
  ClipReport sum_differences(const Summand& summand, const Members& members, double limit,
                             VectorRef out) const;
  /// Hands the norms of each chunk to `weigh`, which returns the records' weights; adds the
  /// weighted gradients to `sum` unless that is null.
  template <class Weigh>
  void visit(ConstVectorRef x, const std::vector<Index>& members, Vector* sum,
             const Weigh& weigh) const;
  Tensor losses(ConstVectorRef x, const std::vector<Index>& members) const;

  std::shared_ptr<const Network> network_;
  std::shared_ptr<const Examples> examples_;
  Computation computation_;
  mutable std::mutex guard_;
  mutable std::optional<Norms> last_;
};

/// The mean loss of some records. Networks that mix records take them in batches of 128.
class NetworkObjective final : public Objective {
 public:
  NetworkObjective(std::shared_ptr<const Network> network, std::shared_ptr<const Examples> examples,
                   std::vector<Index> rows, const Computation& computation);

  Index dimension() const override { return network_->parameters(); }
  double value(ConstVectorRef x) const override;
  void gradient(ConstVectorRef x, VectorRef out) const override;
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override;

 private:
  /// Hands the losses of each chunk, divided by the number of records, to `visit`.
  template <class Visit>
  void each_chunk(const Tensor& parameters, const Visit& visit) const;

  std::shared_ptr<const Network> network_;
  std::shared_ptr<const Examples> examples_;
  std::vector<Index> rows_;
  Computation computation_;
};

/// Mean loss and share of right answers.
struct Scores {
  double loss = 0;
  double accuracy = 0;
  double matthews = 0;  ///< Matthews correlation of two classes; 0 where it is undefined
};

/// The batch normalisations' means and variances at x over a batch of these records; none for a
/// network without such.
BatchStatistics statistics_at(const Network& network, ConstVectorRef x, const Examples& examples,
                              std::span<const Index> rows, const Computation& computation);

/// Scores on all examples, without augmentation.
Scores scores_at(const Network& network, ConstVectorRef x, const Examples& examples,
                 const BatchStatistics& statistics, const Computation& computation);

}  // namespace dpsosp::networks
