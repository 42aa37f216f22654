// SPDX-License-Identifier: Apache-2.0
// Simulated records against records in memory, for every family that offers both: one record's
// mean, sums and differences in distribution, successive disjoint batches jointly. Seeds are fixed;
// bounds are set for a false-alarm rate below 1e-6 a test and family.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::simulated_stat_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr Index batch = 12;       // few enough for the law of a sum to be far from normal
constexpr Index batches = 30000;  // of each kind
constexpr double normal_1e9 = 6.2;
constexpr double kolmogorov_1e9 = 3.3;

/// The family with its `sampling` set, or null where it does not offer that. Of GLMs, whose
/// features are atoms then.
std::unique_ptr<ProblemFamily> family_with(const std::string& name, const std::string& sampling) {
  auto family = find_problem(name);
  Fields fields = family->fields();
  const auto field = std::ranges::find(fields, "sampling", &Field::name);
  if (field == fields.end() || std::ranges::find(field->choices, sampling) == field->choices.end())
    return nullptr;
  field->set(sampling);
  const auto support = std::ranges::find(fields, "support", &Field::name);
  if (support != fields.end()) support->set("6");
  return family;
}

std::vector<std::string> simulated_families() {
  std::vector<std::string> names;
  for (const auto& entry : problem_registry())
    if (family_with(entry.name, "stream") && family_with(entry.name, "independent"))
      names.push_back(entry.name);
  return names;
}

/// What a batch answers: scalars whose laws are compared.
struct Answers {
  std::vector<double> along, first, norm, product, difference, loss;
};

class SimulatedFamily : public testing::TestWithParam<std::string> {
 protected:
  Problem make(const std::string& sampling, Index n, std::uint64_t data_seed = 5) const {
    return family_with(GetParam(), sampling)
        ->make({.records = n, .dimension = small(), .data_seed = data_seed});
  }
  /// Three dimensions, or the default where three make no instance.
  std::optional<Index> small() const {
    try {
      find_problem(GetParam())->make({.records = 2, .dimension = 3});
      return 3;
    } catch (const InputError&) {
      return {};
    }
  }

  struct Probe {
    Vector x, before, y, direction;
  };
  static Probe probe(const PublicFacts& facts) {
    Stream stream({.seed = 31});
    Probe p{Vector(facts.dimension), Vector(facts.dimension), Vector(facts.dual_dimension),
            Vector(facts.dimension)};
    stream.fill_normal(0.3, p.x);
    stream.fill_normal(0.4, p.before);
    stream.fill_normal(1.0, p.y);
    stream.fill_normal(1.0, p.direction);
    p.direction.normalize();
    facts.domain.project(p.x);
    facts.domain.project(p.before);
    return p;
  }

  static Vector sum(const Problem& p, Index begin, Index end) {
    const Probe at = probe(p.facts);
    Vector out = Vector::Zero(p.facts.dimension);
    p.sums().add_gradients(Point(at.x, at.y), Block::x, BatchView(begin, end), unlimited, out);
    return out;
  }
  static Vector difference(const Problem& p, Index begin, Index end) {
    const Probe at = probe(p.facts);
    Vector out = Vector::Zero(p.facts.dimension);
    p.sums().add_gradient_differences(Point(at.x, at.y), Point(at.before, at.y), Block::x,
                                      BatchView(begin, end), unlimited, out);
    return out;
  }

  /// Batches of the given size one after the other; `centre` is taken off the products.
  static Answers answers(const Problem& p, Index size, const Vector& centre) {
    const Probe at = probe(p.facts);
    Answers all;
    for (Index k = 0; k < batches; ++k) {
      const Index begin = k * size, end = begin + size;
      const Vector g = sum(p, begin, end), moved = difference(p, begin, end);
      all.along.push_back(at.direction.dot(g));
      all.first.push_back(g[0]);
      all.norm.push_back((g - centre).norm());
      all.product.push_back((g[0] - centre[0]) * (g[g.size() - 1] - centre[g.size() - 1]));
      all.difference.push_back(at.direction.dot(moved));
      if (p.facts.dual_kind == DualKind::none) {
        double loss = 0;
        p.sums().add_loss_differences(Point(at.x), Point(at.before), BatchView(begin, end),
                                      unlimited, loss);
        all.loss.push_back(loss);
      }
    }
    return all;
  }
};

/// √(nm/(n+m)) times the largest distance of two empirical distributions; ties, and values that
/// differ by rounding alone, count as equal.
double two_sample(std::vector<double> a, std::vector<double> b) {
  if (a.empty() && b.empty()) return 0;
  std::ranges::sort(a);
  std::ranges::sort(b);
  double distance = 0;
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const double x = std::min(a[i], b[j]);
    const double tie = x + 1e-6 * (1 + std::abs(x));
    while (i < a.size() && a[i] <= tie) ++i;
    while (j < b.size() && b[j] <= tie) ++j;
    distance =
        std::max(distance, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  return std::sqrt(n * m / (n + m)) * distance;
}

double mean_of(const std::vector<double>& sample) {
  double sum = 0;
  for (const double x : sample) sum += x;
  return sum / static_cast<double>(sample.size());
}
double variance_of(const std::vector<double>& sample) {
  const double mean = mean_of(sample);
  double sum = 0;
  for (const double x : sample) sum += (x - mean) * (x - mean);
  return sum / static_cast<double>(sample.size());
}

/// Difference of the variances in standard errors.
double variance_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() && b.empty()) return 0;
  const auto error_squared = [](const std::vector<double>& sample) {
    const double mean = mean_of(sample), variance = variance_of(sample);
    double sum = 0;
    for (const double x : sample) sum += std::pow((x - mean) * (x - mean) - variance, 2);
    return sum / std::pow(static_cast<double>(sample.size()), 2);
  };
  const double error = std::sqrt(error_squared(a) + error_squared(b));
  const double difference = variance_of(a) - variance_of(b);
  return error > 1e-12 ? difference / error : (std::abs(difference) > 1e-9 ? unlimited : 0);
}

/// Correlation of sample k with sample k + lag, times √n.
double serial_correlation(const std::vector<double>& sample, std::size_t lag) {
  const double mean = mean_of(sample), variance = variance_of(sample);
  if (!(variance > 1e-20)) return 0;
  double sum = 0;
  for (std::size_t k = lag; k < sample.size(); ++k)
    sum += (sample[k] - mean) * (sample[k - lag] - mean);
  return sum / (variance * std::sqrt(static_cast<double>(sample.size() - lag)));
}

/// χ² of a 3 × 3 table of successive values, split at the thirds; 4 degrees of freedom.
double pair_chi_square(const std::vector<double>& sample) {
  std::vector<double> sorted = sample;
  std::ranges::sort(sorted);
  const double low = sorted[sorted.size() / 3], high = sorted[2 * sorted.size() / 3];
  std::array<std::array<double, 3>, 3> table{};
  std::array<double, 3> first{}, second{};
  const auto third = [&](double x) { return x <= low ? 0U : (x <= high ? 1U : 2U); };
  double pairs = 0;
  for (std::size_t k = 0; k + 1 < sample.size(); k += 2) {
    const auto a = third(sample[k]), b = third(sample[k + 1]);
    ++table[a][b];
    ++first[a];
    ++second[b];
    ++pairs;
  }
  double statistic = 0;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      const double expected = first[a] * second[b] / pairs;
      if (expected > 0) statistic += std::pow(table[a][b] - expected, 2) / expected;
    }
  return statistic;
}

TEST_P(SimulatedFamily, BatchSumsMatchLawOfStoredRecords) {
  const Problem stored = make("independent", batch * batches);
  const Problem drawn = make("stream", batch * batches);
  const Vector centre = sum(stored, 0, batch * batches) / static_cast<double>(batches);
  const Answers a = answers(stored, batch, centre), b = answers(drawn, batch, centre);
  EXPECT_LT(two_sample(a.along, b.along), kolmogorov_1e9);
  EXPECT_LT(two_sample(a.first, b.first), kolmogorov_1e9);
  EXPECT_LT(two_sample(a.norm, b.norm), kolmogorov_1e9);
  EXPECT_LT(two_sample(a.product, b.product), kolmogorov_1e9);
  EXPECT_LT(two_sample(a.difference, b.difference), kolmogorov_1e9);
  EXPECT_LT(two_sample(a.loss, b.loss), kolmogorov_1e9);
  EXPECT_LT(std::abs(variance_difference(a.along, b.along)), normal_1e9);
  EXPECT_LT(std::abs(variance_difference(a.first, b.first)), normal_1e9);
  EXPECT_LT(std::abs(variance_difference(a.loss, b.loss)), normal_1e9);
}

TEST_P(SimulatedFamily, ComparisonDetectsOtherSizesAndSpreads) {
  const Problem drawn = make("stream", 2 * batch * batches);
  const Vector centre = Vector::Zero(drawn.facts.dimension);
  std::vector<double> sums = answers(drawn, batch, centre).along, wider = sums;
  const double mean = mean_of(sums);
  EXPECT_GT(variance_of(sums), 0);
  for (double& x : wider) x = mean + 1.2 * (x - mean);
  EXPECT_GT(two_sample(sums, wider), kolmogorov_1e9);
  for (double& x : wider) x = mean + (x - mean) * 1.1 / 1.2;
  EXPECT_GT(std::abs(variance_difference(sums, wider)), normal_1e9);
  EXPECT_GT(two_sample(sums, answers(drawn, 2 * batch, centre).along), kolmogorov_1e9);
}

TEST_P(SimulatedFamily, SumsAverageToPopulation) {
  const Problem drawn = make("stream", batch * batches);
  if (!drawn.population) return;
  const auto at = probe(drawn.facts);
  if (drawn.facts.dual_kind != DualKind::none)
    return;  // Φ's gradient is not a mean at a fixed dual
  Vector gradient(drawn.facts.dimension);
  drawn.population->gradient(at.x, gradient);
  const Answers a = answers(drawn, batch, gradient * static_cast<double>(batch));
  const double expected = static_cast<double>(batch) * at.direction.dot(gradient);
  const double error = std::sqrt(variance_of(a.along) / static_cast<double>(batches));
  EXPECT_LT(std::abs(mean_of(a.along) - expected), normal_1e9 * error + 1e-12);
}

TEST_P(SimulatedFamily, SuccessiveDisjointBatchesAreIndependent) {
  const Problem drawn = make("stream", batch * batches);
  const Answers a = answers(drawn, batch, Vector::Zero(drawn.facts.dimension));
  std::vector<double> squares;
  const double mean = mean_of(a.along);
  for (const double x : a.along) squares.push_back((x - mean) * (x - mean));
  for (const std::size_t lag : {1U, 2U, 3U}) {
    EXPECT_LT(std::abs(serial_correlation(a.along, lag)), normal_1e9) << lag;
    EXPECT_LT(std::abs(serial_correlation(a.first, lag)), normal_1e9) << lag;
    EXPECT_LT(std::abs(serial_correlation(squares, lag)), 1.5 * normal_1e9) << lag;  // heavy tails
  }
  EXPECT_LT(pair_chi_square(a.along), 48.0);  // χ²(4) exceeds 48 with probability 1e-9
  EXPECT_LT(pair_chi_square(a.first), 48.0);
}

TEST_P(SimulatedFamily, HalvesSumToLawOfWhole) {
  // one data set, since some families plant what they hide by its seed
  const Problem drawn = make("stream", 4 * batch * batches);
  const auto at = probe(drawn.facts);
  std::vector<double> halves, wholes;
  for (Index k = 0; k < batches; ++k) {
    const Index begin = 2 * k * batch, later = begin + 2 * batch * batches;
    halves.push_back(at.direction.dot(sum(drawn, begin, begin + batch) +
                                      sum(drawn, begin + batch, begin + 2 * batch)));
    wholes.push_back(at.direction.dot(sum(drawn, later, later + 2 * batch)));
  }
  EXPECT_LT(two_sample(halves, wholes), kolmogorov_1e9);
}

TEST_P(SimulatedFamily, WholeDataSetsMatchLawOfDataSetsInMemory) {
  std::vector<double> stored, drawn;
  for (std::uint64_t data_seed = 0; data_seed < 300; ++data_seed) {
    const Problem a = make("independent", batch, data_seed), b = make("whole", batch, data_seed);
    const Vector direction = probe(a.facts).direction;
    stored.push_back(direction.dot(sum(a, 0, batch)));
    drawn.push_back(direction.dot(sum(b, 0, batch)));
  }
  EXPECT_GT(variance_of(drawn), 0);
  EXPECT_LT(two_sample(stored, drawn), kolmogorov_1e9);
}

TEST_P(SimulatedFamily, WholeDataSetSumsMatchItsObjective) {
  for (const Index n : {Index{1}, Index{7}, Index{100'000}, Index{10'000'000'000'000'000}}) {
    const Problem p = make("whole", n);
    ASSERT_NE(p.empirical, nullptr);
    if (p.facts.dual_kind != DualKind::none) return;
    const auto at = probe(p.facts);
    Vector gradient(p.facts.dimension);
    p.empirical->gradient(at.x, gradient);
    const Vector mean = sum(p, 0, n) / static_cast<double>(n);
    EXPECT_LT((mean - gradient).norm(), 1e-12 * (1 + gradient.norm())) << n;
    double loss = 0;
    p.sums().add_loss_differences(Point(at.x), Point(at.before), BatchView(0, n), unlimited, loss);
    const double expected = p.empirical->value(at.x) - p.empirical->value(at.before);
    EXPECT_NEAR(loss / static_cast<double>(n), expected, 1e-12 * (1 + std::abs(expected))) << n;
  }
}

TEST_P(SimulatedFamily, HoldsEitherRecordsOrSums) {
  for (const char* sampling : {"whole", "stream"}) {
    const Problem p = make(sampling, 100);
    EXPECT_EQ(p.records, nullptr) << sampling;
    EXPECT_EQ(&p.sums(), p.simulated.get()) << sampling;
  }
  const Problem p = make("independent", 100);
  EXPECT_EQ(p.simulated, nullptr);
  EXPECT_EQ(&p.sums(), p.records.get());
}

TEST_P(SimulatedFamily, RangeSumsIgnoreOtherQueries) {
  const Problem p = make("stream", 1000), again = make("stream", 1000);
  const Problem other = make("stream", 1000, 6);
  const Vector first = sum(p, 100, 300);
  sum(p, 300, 500);
  difference(p, 0, 100);
  EXPECT_EQ(first, sum(p, 100, 300));
  EXPECT_EQ(first, sum(again, 100, 300));
  EXPECT_NE(first, sum(p, 300, 500));
  EXPECT_NE(first, sum(other, 100, 300));
}

TEST_P(SimulatedFamily, DifferencesMatchGradientsOfSameData) {
  // ∇f(x) − ∇f(x′) of one batch, asked as a difference and as two sums
  const Problem p = make("stream", 5000);
  const auto at = probe(p.facts);
  const BatchView range(1000, 3000);
  Vector a = Vector::Zero(p.facts.dimension), b = a, moved = a;
  p.sums().add_gradients(Point(at.x, at.y), Block::x, range, unlimited, a);
  p.sums().add_gradients(Point(at.before, at.y), Block::x, range, unlimited, b);
  p.sums().add_gradient_differences(Point(at.x, at.y), Point(at.before, at.y), Block::x, range,
                                    unlimited, moved);
  EXPECT_LT((a - b - moved).norm(), 1e-12 * (1 + a.norm() + b.norm()));
}

TEST_P(SimulatedFamily, AnswersForHugeDataSetsInMicroseconds) {
  constexpr Index n = 10'000'000'000'000'000;
  for (const char* sampling : {"whole", "stream"}) {
    double fastest = 1;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const Problem p = make(sampling, n, seed);
      const auto start = std::chrono::steady_clock::now();
      const Vector g = sum(p, 0, n);
      fastest = std::min(
          fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      EXPECT_TRUE(g.allFinite());
    }
    EXPECT_LT(fastest, 2e-4) << sampling;  // 1 to 3 µs on an idle machine
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, SimulatedFamily, testing::ValuesIn(simulated_families()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace dpsosp::simulated_stat_test
