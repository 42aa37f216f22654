// SPDX-License-Identifier: Apache-2.0
#include "replay/sources.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/privacy/audited_curator.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "noise/noise_check.hpp"
#include "replay/redraw.hpp"

namespace dpsosp::audit {
namespace {

struct NamedKey {
  std::string name;
  StreamKey key;
};

/// A key, and those that differ from it in one bit.
std::vector<NamedKey> keys_one_bit_apart() {
  const StreamKey first{
      .seed = 0x2b992ddfa23249d6U, .run = 0x1d872b41U, .path = 0x9fb21c651e98df25U};
  std::vector<NamedKey> keys{{"no bit", first}};
  for (unsigned bit = 0; bit < 64; ++bit) {
    StreamKey key = first;
    key.seed ^= std::uint64_t{1} << bit;
    keys.push_back({fmt::format("bit {} of the seed", bit), key});
    key = first;
    key.path ^= std::uint64_t{1} << bit;
    keys.push_back({fmt::format("bit {} of the path", bit), key});
    if (bit >= 32) continue;
    key = first;
    key.run ^= std::uint32_t{1} << bit;
    keys.push_back({fmt::format("bit {} of the run", bit), key});
  }
  return keys;
}

constexpr std::array purposes{Purpose::data,       Purpose::initial_point, Purpose::noise,
                              Purpose::sampling,   Purpose::algorithm,     Purpose::evaluation,
                              Purpose::statistics, Purpose::test,          Purpose::choice};

/// Words of one place of two streams are equal with probability 2^−64.
std::string common_words(const std::vector<NamedKey>& keys) {
  constexpr int words = 8;
  std::unordered_map<std::uint64_t, std::size_t> owner;
  for (std::size_t k = 0; k < keys.size(); ++k)
    for (const Purpose purpose : purposes) {
      StreamKey key = keys[k].key;
      key.purpose = purpose;
      Stream plain(key), sealed = Stream::sealed(key);
      for (int i = 0; i < words; ++i) {
        const std::uint64_t word = plain.bits();
        if (word != sealed.bits())
          return fmt::format("a sealed stream of purpose {} has other words",
                             static_cast<std::uint32_t>(purpose));
        if (const auto [at, is_new] = owner.emplace(word, k); !is_new)
          return fmt::format(
              "a word of the stream of purpose {} with {} changed is one of that "
              "with {} changed",
              static_cast<std::uint32_t>(purpose), keys[k].name, keys[at->second].name);
      }
    }
  return {};
}

}  // namespace

namespace {

/// Writes down what is drawn, by curator and purpose.
class Draws final : public Auditor {
 public:
  void charged(const LedgerEntry&) override {}
  void answer(const AuditedAnswer& what, VectorRef value) override {
    what_ = what;
    answer_ = value;
  }
  void noisy(VectorRef value) override {
    if (what_.kind == AuditedAnswer::Kind::score)
      add("choices", value);
    else
      add("noise", value - answer_);
  }
  void drawn(const DrawnBatch& batch) override {
    Vector members(std::ssize(batch.members));
    for (Index k = 0; k < members.size(); ++k)
      members[k] = static_cast<double>(batch.members[static_cast<std::size_t>(k)]);
    add(fmt::format("{} batch", to_string(batch.policy.kind)), members);
  }
  void begin(std::string curator) { curator_ = std::move(curator); }

  std::vector<Drawn> all;

 private:
  void add(std::string_view what, const Vector& more) {
    std::string name = fmt::format("{} of {}", what, curator_);
    if (all.empty() || all.back().what != name) all.push_back({std::move(name), Vector()});
    Vector& numbers = all.back().numbers;
    numbers.conservativeResize(numbers.size() + more.size());
    numbers.tail(more.size()) = more;
  }
  std::string curator_;
  AuditedAnswer what_;
  Vector answer_;
};

/// Noise of 8 numbers, 12 choices among 16 alike, and two batches of some 50 of 100 records.
void draw_all(Curator& curator) {
  const PublicFacts& facts = curator.facts();
  const Point start(facts.initial_point);
  Vector noise(facts.dimension);
  // So much of it that nothing else is left.
  constexpr double limit = 1e-90;
  const Batch all = curator.draw(BatchPolicy::all());
  curator.gradient(start, all, {limit, Noise::standard_deviation(1.0)}, noise);
  ExponentialMechanism mechanism(curator, all);
  const Matrix alike = facts.initial_point.replicate(1, 16);
  for (int k = 0; k < 12; ++k) mechanism.choose(alike, facts.initial_point, 1.0, 1.0);
  curator.draw(BatchPolicy::sample(facts.records / 2));
  curator.draw(BatchPolicy::poisson(0.5));
}

}  // namespace

std::vector<Drawn> draws_of_curator(const StreamKey& key) {
  static const Problem problem =
      find_problem("double-well")->make({.records = 100, .dimension = 8, .seed = 3});
  Draws draws;
  ClipLog log;
  AuditedCurator root(problem.facts, *problem.records,
                      {Calibrator::cks, {}, std::numeric_limits<double>::max(), 0.0, 0.0, 0.0}, key,
                      draws, log);
  const auto adopt = [](Curator& parent, std::string name) {
    return parent.child({.name = std::move(name), .share = 0.25});
  };
  Curator one = adopt(root, "one"), two = adopt(root, "two"), below = adopt(one, "below");
  for (const auto& [curator, name] : {std::pair<Curator*, const char*>{&root, "the root"},
                                      {&one, "its first child"},
                                      {&two, "its second child"},
                                      {&below, "its grandchild"}}) {
    draws.begin(name);
    draw_all(*curator);
  }
  return std::move(draws.all);
}

std::string complaint_of_keys(const DrawsOfKey& draws_of) {
  const std::vector<NamedKey> keys = keys_one_bit_apart();
  if (std::string common = common_words(keys); !common.empty()) return common;
  std::map<std::vector<double>, std::string> owner;
  JointLaw law(0);
  for (const NamedKey& named : keys) {
    law.begin_run();
    for (const Drawn& draw : draws_of(named.key)) {
      const std::string own = fmt::format("the {} with {} changed", draw.what, named.name);
      const auto [at, is_new] =
          owner.emplace(std::vector<double>(draw.numbers.begin(), draw.numbers.end()), own);
      if (!is_new) return own + " is the same as " + at->second;
      if (draw.what.starts_with("noise")) law.add("vector", draw.what, draw.numbers);
    }
    law.end_run({});
  }
  std::vector<Finding> findings;
  law.test(findings);
  return complaint_of(findings);
}

std::unique_ptr<WordSource> source_of_system() { return std::make_unique<SystemEntropy>(); }

namespace {

/// A word that comes twice. \param findings  gets how often each bit is set
std::optional<std::uint64_t> repeated(std::vector<std::uint64_t> words, std::string_view of,
                                      std::vector<Finding>& findings) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto set = std::ranges::count_if(
        words, [bit](std::uint64_t word) { return ((word >> bit) & 1U) != 0; });
    findings.push_back({two_sided_binomial(set, std::ssize(words), 0.5),
                        fmt::format("bit {} is set in {} of {} {}", bit, set, words.size(), of)});
  }
  std::ranges::sort(words);
  const auto same = std::ranges::adjacent_find(words);
  return same == words.end() ? std::nullopt : std::optional(*same);
}

}  // namespace

std::string complaint_of_entropy(std::int64_t sources, std::int64_t words, const MakeSource& make) {
  std::vector<Finding> findings;
  std::vector<std::uint64_t> drawn(static_cast<std::size_t>(sources));
  for (std::uint64_t& word : drawn) word = make()->bits();
  if (const auto same = repeated(drawn, "sources", findings))
    return fmt::format("of {} sources of system entropy two begin with {:016x}", sources, *same);
  drawn.resize(static_cast<std::size_t>(words));
  const std::unique_ptr<WordSource> source = make();
  for (std::uint64_t& word : drawn) word = source->bits();
  if (const auto same = repeated(drawn, "words", findings))
    return fmt::format("of {} words of system entropy two are {:016x}", words, *same);
  return complaint_of(findings);
}

std::string complaint_of_discrete_noise(std::uint64_t seed, std::int64_t draws,
                                        const DrawDiscrete& draw) {
  constexpr std::size_t low_bits = 12, coins = low_bits + 1;
  SeededWords words({.seed = seed, .purpose = Purpose::statistics});
  Stream widths({.seed = seed, .purpose = Purpose::test});
  std::array<std::array<std::int64_t, coins>, coins> unequal{};  // on the diagonal: not zero
  for (std::int64_t k = 0; k < draws; ++k) {
    // Powers of two, odd widths and any between.
    const std::int64_t most = std::int64_t{1} << 40;
    const std::int64_t sigma =
        k % 3 == 0 ? most
                   : most + (k % 3 == 1 ? 1 + 2 * widths.below(most / 2) : widths.below(most));
    const std::int64_t value = draw(words, sigma);
    const auto size = static_cast<std::uint64_t>(std::abs(value));
    std::array<unsigned, coins> coin{};
    for (std::size_t bit = 0; bit < low_bits; ++bit) coin[bit] = (size >> bit) & 1U;
    coin[low_bits] = value < 0 ? 1U : 0U;
    for (std::size_t a = 0; a < coins; ++a) {
      unequal[a][a] += coin[a];
      for (std::size_t b = 0; b < a; ++b) unequal[a][b] += coin[a] ^ coin[b];
    }
  }
  const auto named = [](std::size_t coin) {
    return coin == low_bits ? std::string("the sign") : fmt::format("bit {}", coin);
  };
  std::vector<Finding> findings;
  for (std::size_t a = 0; a < coins; ++a) {
    findings.push_back({two_sided_binomial(unequal[a][a], draws, 0.5),
                        fmt::format("{} is set in {} of {}", named(a), unequal[a][a], draws)});
    for (std::size_t b = 0; b < a; ++b)
      findings.push_back(
          {two_sided_binomial(unequal[a][b], draws, 0.5),
           fmt::format("{} and {} differ in {} of {}", named(b), named(a), unequal[a][b], draws)});
  }
  return complaint_of(findings);
}

}  // namespace dpsosp::audit
