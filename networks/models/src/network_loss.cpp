// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/network_loss.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/autograd.h>
#include <torch/nn/functional/loss.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp::networks {
namespace {

constexpr Index most_chunk = 64;
constexpr Index most_row_entries = Index{1} << 26;   // of all rows of a chunk
constexpr Index most_kept_entries = Index{1} << 28;  // of what its passes keep
constexpr Index most_mixed = 4096;  // records of one batch of a network that mixes them
constexpr Index mixed_batch = 128;  // of an objective, likewise
constexpr Index scored_at_once = 256;

/// Each run is computed by one thread, so that its bits do not depend on how many there are, and
/// with the precision of its type: a GPU's convolutions would round to eleven bits, which is as
/// much as clipping leaves room for.
void fix_arithmetic() {
  if (at::get_num_threads() != 1) at::set_num_threads(1);
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setAllowTF32CuBLAS(false);
}

Tensor tensor_of(ConstVectorRef x, const Computation& computation) {
  fix_arithmetic();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): from_blob takes no pointer to const
  auto* data = const_cast<double*>(x.data());
  const Tensor view = at::from_blob(data, {x.size()}, at::kDouble);
  return at::empty({x.size()}, computation.options()).copy_(view);
}

/// out += the tensor.
void add_to(VectorRef out, const Tensor& tensor) {
  const Tensor doubles = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
  out += Eigen::Map<const Vector>(doubles.data_ptr<double>(), doubles.numel());
}

std::vector<double> numbers_of(const Tensor& tensor) {
  const Tensor doubles = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
  return {doubles.data_ptr<double>(), doubles.data_ptr<double>() + doubles.numel()};
}

/// FNV-1a of the bits; never 0.
std::uint64_t hash_of(ConstVectorRef x) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const double entry : x)
    hash = (hash ^ std::bit_cast<std::uint64_t>(entry)) * 1099511628211ULL;
  return hash == 0 ? 1 : hash;
}

Tensor losses_of(const Network& network, Pass& pass, const Chunk& chunk) {
  pass.mask = chunk.mask;
  return torch::nn::functional::cross_entropy(
      network.scores(pass, chunk.input), chunk.labels,
      torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
}

std::vector<Index> members_of(const BatchView& batch) {
  std::vector<Index> members(static_cast<std::size_t>(batch.size()));
  for (Index k = 0; k < batch.size(); ++k) members[static_cast<std::size_t>(k)] = batch[k];
  return members;
}

/// Calls visit(chunk's members) for chunks of `members` in order.
template <class Visit>
void over_chunks(std::span<const Index> members, Index size, const Visit& visit) {
  for (std::size_t from = 0; from < members.size(); from += static_cast<std::size_t>(size))
    visit(members.subspan(from, std::min(static_cast<std::size_t>(size), members.size() - from)));
}

/// The gradients of one chunk's records, a part for each layer.
class ChunkGradients {
 public:
  ChunkGradients(const Network& network, const Tensor& parameters, const Chunk& chunk)
      : parameters_(parameters) {
    Pass pass{.parameters = network.parts(parameters), .mask = {}};
    pass.captures = &captures_;
    const Tensor losses = losses_of(network, pass, chunk);
    std::vector<Tensor> outputs;
    for (const Capture& c : captures_) outputs.push_back(c.output);
    const auto gradients = torch::autograd::grad({losses.sum()}, outputs);
    squares_ = at::zeros({losses.size(0)}, losses.options().requires_grad(false));
    for (std::size_t k = 0; k < captures_.size(); ++k) {
      const Capture& c = captures_[k];
      parts_.push_back(c.layer->record_gradients(c.input, gradients[k].detach(), network.form));
      squares_ += parts_.back()->squared_norms();
      captures_[k].output = Tensor();
    }
  }

  std::vector<double> norms() const { return numbers_of(squares_.sqrt()); }

  void add_weighted(const std::vector<double>& weights, Tensor& sum) const {
    const Tensor w = at::tensor(weights, at::kDouble).to(sum.options());
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Parametric& layer = *captures_[k].layer;
      parts_[k]->add_weighted(w, sum.narrow(0, layer.offset(), layer.size()));
    }
  }

 private:
  Tensor parameters_;
  std::vector<Capture> captures_;
  std::vector<std::unique_ptr<RecordGradients>> parts_;
  Tensor squares_;
};

}  // namespace

Index records_a_chunk(const Network& network) {
  const Index fits = std::min(most_row_entries / std::max<Index>(1, network.row_entries()),
                              most_kept_entries / std::max<Index>(1, network.kept_a_record));
  Index size = most_chunk;
  while (size > 1 && size > fits) size /= 2;
  return size;
}

NetworkRecords::NetworkRecords(std::shared_ptr<const Network> network,
                               std::shared_ptr<const Examples> examples,
                               const Computation& computation)
    : network_(std::move(network)), examples_(std::move(examples)), computation_(computation) {}

template <class Weigh>
void NetworkRecords::visit(ConstVectorRef x, const std::vector<Index>& members, Vector* sum,
                           const Weigh& weigh) const {
  const Tensor parameters = tensor_of(x, computation_);
  const std::uint64_t hash = hash_of(x);
  const bool mixes = network_->mixes_records();
  if (mixes && std::ssize(members) > most_mixed)
    throw InputError(fmt::format(
        "{}: a batch of {} records, expected at most {}: batch normalisation needs it at once",
        network_->name(), members.size(), most_mixed));
  Tensor part = at::zeros({x.size()}, computation_.options());
  over_chunks(members, mixes ? most_mixed : records_a_chunk(*network_),
              [&](std::span<const Index> rows) {
                const ChunkGradients gradients(
                    *network_, parameters, examples_->chunk(rows, computation_.options(), hash));
                const std::vector<double> weights = weigh(gradients.norms());
                if (sum == nullptr) return;
                gradients.add_weighted(weights, part.zero_());
                add_to(*sum, part);
              });
}

ClipReport NetworkRecords::add(const Summand& summand, const BatchView& batch, double limit,
                               VectorRef out) const {
  check_minimisation(network_->name(), summand.block);
  const Members members = members_of(batch);
  if (summand.kind == Summand::Kind::gradient)
    return summand.previous ? sum_differences(summand, members, limit, out)
                            : sum_gradients(summand.point.x, members, limit, out);
  if (summand.kind != Summand::Kind::loss) refuse(summand);
  ClipReport report;
  if (members.empty()) return report;
  for (const double difference :
       numbers_of(losses(summand.point.x, members) - losses(summand.previous->x, members)))
    out[0] += difference * report.weigh(std::abs(difference), limit);
  return report;
}

ClipReport NetworkRecords::sum_gradients(ConstVectorRef x, Members members, double limit,
                                         VectorRef out) const {
  ClipReport report;
  Norms seen{.point = x, .members = std::move(members), .values = {}};
  Vector sum = Vector::Zero(out.size());
  const double safe_limit = limit / (1.0 + rounding_of(computation_.type));
  visit(x, seen.members, &sum, [&](std::vector<double> norms) {
    seen.values.insert(seen.values.end(), norms.begin(), norms.end());
    for (double& norm : norms) norm = report.weigh(norm, safe_limit);
    return norms;
  });
  out += sum;
  const std::lock_guard lock(guard_);
  last_ = std::move(seen);
  return report;
}

Index NetworkRecords::longer(const Summand& summand, const BatchView& batch, double limit) const {
  if (summand.kind != Summand::Kind::gradient || summand.previous)
    return RecordSums::longer(summand, batch, limit);
  const Members members = members_of(batch);
  const std::vector<double> norms = [&] {
    {
      const std::lock_guard lock(guard_);
      if (last_ && last_->members == members && last_->point == summand.point.x)
        return last_->values;
    }
    return this->norms(summand.point.x, batch);
  }();
  return std::ranges::count_if(norms, [&](double norm) { return !(norm <= limit); });
}

std::vector<double> NetworkRecords::norms(ConstVectorRef x, const BatchView& batch) const {
  std::vector<double> all;
  visit(x, members_of(batch), nullptr, [&](const std::vector<double>& norms) {
    all.insert(all.end(), norms.begin(), norms.end());
    return norms;
  });
  return all;
}

ClipReport NetworkRecords::sum_differences(const Summand& summand, const Members& members,
                                           double limit, VectorRef out) const {
  // The norm of a difference needs both gradients of a record at once.
  ClipReport report;
  if (network_->mixes_records())
    throw InputError(fmt::format(
        "{}: batch normalisation gives a record no gradient of its own, and so no difference of "
        "two; use normalisation=group",
        network_->name()));
  Vector difference(out.size());
  const auto unweighted = [](std::vector<double> norms) {
    std::ranges::fill(norms, 1.0);
    return norms;
  };
  for (const Index i : members) {
    Vector here = Vector::Zero(out.size()), there = Vector::Zero(out.size());
    visit(summand.point.x, {i}, &here, unweighted);
    visit(summand.previous->x, {i}, &there, unweighted);
    difference = here - there;
    const double weight = report.weigh(difference.norm(), limit);
    out += weight * difference;
  }
  return report;
}

Tensor NetworkRecords::losses(ConstVectorRef x, const std::vector<Index>& members) const {
  const torch::NoGradGuard no_gradients;
  const Tensor parameters = tensor_of(x, computation_);
  const std::uint64_t hash = hash_of(x);
  std::vector<Tensor> all;
  over_chunks(members, network_->mixes_records() ? most_mixed : scored_at_once,
              [&](std::span<const Index> rows) {
                Pass pass{.parameters = network_->parts(parameters), .mask = {}};
                all.push_back(losses_of(*network_, pass,
                                        examples_->chunk(rows, computation_.options(), hash)));
              });
  return at::cat(all);
}

NetworkObjective::NetworkObjective(std::shared_ptr<const Network> network,
                                   std::shared_ptr<const Examples> examples,
                                   std::vector<Index> rows, const Computation& computation)
    : network_(std::move(network)),
      examples_(std::move(examples)),
      rows_(std::move(rows)),
      computation_(computation) {}

template <class Visit>
void NetworkObjective::each_chunk(const Tensor& parameters, const Visit& visit) const {
  const Index size = network_->mixes_records() ? mixed_batch : records_a_chunk(*network_);
  over_chunks(rows_, size, [&](std::span<const Index> rows) {
    Pass pass{.parameters = network_->parts(parameters), .mask = {}};
    const Tensor losses =
        losses_of(*network_, pass, examples_->chunk(rows, computation_.options(), 0));
    visit(losses.sum() / static_cast<double>(rows_.size()));
  });
}

double NetworkObjective::value(ConstVectorRef x) const {
  const torch::NoGradGuard no_gradients;
  double sum = 0.0;
  each_chunk(tensor_of(x, computation_),
             [&](const Tensor& loss) { sum += loss.to(at::kDouble).item<double>(); });
  return sum;
}

void NetworkObjective::gradient(ConstVectorRef x, VectorRef out) const {
  const Tensor parameters = tensor_of(x, computation_).requires_grad_();
  out.setZero();
  each_chunk(parameters, [&](const Tensor& loss) {
    add_to(out, torch::autograd::grad({loss}, {parameters}).front());
  });
}

void NetworkObjective::hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const {
  const Tensor parameters = tensor_of(x, computation_).requires_grad_();
  const Tensor direction = tensor_of(v, computation_);
  out.setZero();
  each_chunk(parameters, [&](const Tensor& loss) {
    const Tensor gradient =
        torch::autograd::grad({loss}, {parameters}, {}, true, /*create_graph=*/true).front();
    add_to(out, torch::autograd::grad({gradient.dot(direction)}, {parameters}).front());
  });
}

BatchStatistics statistics_at(const Network& network, ConstVectorRef x, const Examples& examples,
                              std::span<const Index> rows, const Computation& computation) {
  BatchStatistics statistics;
  if (!network.mixes_records()) return statistics;
  const torch::NoGradGuard no_gradients;
  Pass pass{.parameters = network.parts(tensor_of(x, computation)), .mask = {}};
  pass.seen = &statistics;
  network.scores(pass, examples.chunk(rows, computation.options(), 0).input);
  return statistics;
}

Scores scores_at(const Network& network, ConstVectorRef x, const Examples& examples,
                 const BatchStatistics& statistics, const Computation& computation) {
  const torch::NoGradGuard no_gradients;
  const Tensor parameters = tensor_of(x, computation);
  std::vector<Index> rows(static_cast<std::size_t>(examples.size()));
  std::iota(rows.begin(), rows.end(), Index{0});
  double loss = 0.0;
  double counts[2][2] = {};  // by label and answer, of two classes
  Index right = 0;
  over_chunks(rows, scored_at_once, [&](std::span<const Index> some) {
    const Chunk chunk = examples.chunk(some, computation.options(), 0);
    Pass pass{.parameters = network.parts(parameters), .mask = chunk.mask};
    if (!statistics.empty()) pass.statistics = &statistics;
    const Tensor scores = network.scores(pass, chunk.input);
    loss += torch::nn::functional::cross_entropy(
                scores, chunk.labels,
                torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum))
                .item<double>();
    const Tensor answers = scores.argmax(1);
    right += answers.eq(chunk.labels).sum().item<std::int64_t>();
    if (scores.size(1) == 2)
      for (std::int64_t k = 0; k < answers.size(0); ++k)
        ++counts[chunk.labels[k].item<std::int64_t>()][answers[k].item<std::int64_t>()];
  });
  const auto n = static_cast<double>(rows.size());
  Scores made{.loss = loss / n, .accuracy = static_cast<double>(right) / n};
  const double tp = counts[1][1], tn = counts[0][0], fp = counts[0][1], fn = counts[1][0];
  const double scale = std::sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
  if (scale > 0) made.matthews = (tp * tn - fp * fn) / scale;
  return made;
}

}  // namespace dpsosp::networks
