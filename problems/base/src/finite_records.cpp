// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/finite_records.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/last.hpp"

namespace dpsosp {
namespace {

class SimulatedValues final : public Multiplicity {
 public:
  SimulatedValues(std::string problem, const FiniteLaw& law, Index records, RecordSampling sampling,
                  std::uint64_t data_seed)
      : problem_(std::move(problem)),
        strata_(law.strata),
        conditional_(law.probabilities),
        records_(records),
        sampling_(sampling),
        data_seed_(data_seed) {
    double tail = 0;  // from the end, so that the last conditional probability is exactly 1
    for (Index v = conditional_.size() - 1; v >= 0; --v) {
      tail += law.probabilities[v];
      conditional_[v] = law.probabilities[v] / tail;
    }
  }

  Index size() const override { return records_; }
  std::shared_ptr<const std::vector<Index>> of(const BatchView& batch) const override {
    check_simulated_batch(problem_, sampling_, batch, records_);
    return drawn_.of(RangeKey(batch.begin(), batch.size()),
                     [&] { return counts_in(batch.begin(), batch.size()); });
  }

 private:
  std::vector<Index> counts_in(Index begin, Index size) const {
    Stream stream = range_stream(data_seed_, begin, size);
    std::vector<Index> counts;
    counts.reserve(static_cast<std::size_t>(strata_ * conditional_.size()));
    for (Index g = 0; g < strata_; ++g) {
      Index left = stratum_size(begin + size, strata_, g) - stratum_size(begin, strata_, g);
      for (const double probability : conditional_) {
        counts.push_back(left > 0 ? stream.binomial(left, probability) : 0);
        left -= counts.back();
      }
    }
    return counts;
  }

  std::string problem_;
  Index strata_;
  Vector conditional_;  // of value v, given that it is none before v
  Index records_;
  RecordSampling sampling_;
  std::uint64_t data_seed_;
  Last<RangeKey, std::vector<Index>> drawn_;
};

std::vector<std::int32_t> drawn_list(const FiniteLaw& law, Index records, RecordSampling sampling,
                                     std::uint64_t data_seed) {
  const StreamKey key{.seed = data_seed, .purpose = Purpose::data};
  Stream stream(key.child(0));
  const Index values = law.probabilities.size();
  std::vector<std::int32_t> list(static_cast<std::size_t>(records));
  if (sampling == RecordSampling::balanced) {
    std::vector<std::int32_t> block(static_cast<std::size_t>(values));
    std::iota(block.begin(), block.end(), 0);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::size_t place = i % block.size();
      const Index left = values - static_cast<Index>(place);
      std::swap(block[place], block[place + static_cast<std::size_t>(stream.below(left))]);
      list[i] = block[place];
    }
    return list;
  }
  Vector cumulative(values);
  std::partial_sum(law.probabilities.begin(), law.probabilities.end(), cumulative.begin());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto above = std::upper_bound(cumulative.begin(), cumulative.end(), stream.uniform());
    const Index value = std::min<Index>(above - cumulative.begin(), values - 1);
    const Index stratum = static_cast<Index>(i) % law.strata;
    list[i] = static_cast<std::int32_t>(stratum * values + value);
  }
  return list;
}

}  // namespace

DrawnValues draw_values(std::string problem, const FiniteLaw& law, Index records,
                        RecordSampling sampling, std::uint64_t data_seed) {
  DrawnValues drawn;
  if (simulated(sampling))
    drawn.simulated =
        std::make_shared<SimulatedValues>(std::move(problem), law, records, sampling, data_seed);
  else
    drawn.list = drawn_list(law, records, sampling, data_seed);
  if (sampling == RecordSampling::stream) return drawn;
  if (drawn.simulated) {
    drawn.counts = *drawn.simulated->of(BatchView(0, records));
  } else {
    drawn.counts.resize(static_cast<std::size_t>(law.values()));
    for (const std::int32_t value : drawn.list) ++drawn.counts[static_cast<std::size_t>(value)];
  }
  return drawn;
}

Index stratum_size(Index n, Index strata, Index stratum) {
  return n / strata + (n % strata > stratum ? 1 : 0);
}

Vector shares(const std::vector<Index>& counts, Index n) {
  Vector made(std::ssize(counts));
  for (std::size_t k = 0; k < counts.size(); ++k)
    made[static_cast<Index>(k)] = static_cast<double>(counts[k]) / static_cast<double>(n);
  return made;
}

void set_records(std::unique_ptr<const KindLoss> loss, std::shared_ptr<const RecordColumns> values,
                 DrawnValues drawn, Problem& problem) {
  if (drawn.simulated)
    problem.simulated =
        simulate(std::move(loss), RecordTable(std::move(values)), std::move(drawn.simulated));
  else
    problem.records = admit(std::move(loss), RecordTable(std::move(values), std::move(drawn.list)));
}

}  // namespace dpsosp
