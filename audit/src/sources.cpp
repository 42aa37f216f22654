// SPDX-License-Identifier: Apache-2.0
#include "sources.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "noise_check.hpp"
#include "transcript.hpp"

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

constexpr std::array purposes{Purpose::data,
                              Purpose::initial_point,
                              Purpose::noise,
                              Purpose::sampling,
                              Purpose::algorithm,
                              Purpose::evaluation,
                              Purpose::statistics,
                              Purpose::test,
                              Purpose::choice};

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
              static_cast<std::uint32_t>(purpose),
              keys[k].name,
              keys[at->second].name);
      }
    }
  return {};
}

}  // namespace

Vector noise_of_curator(const StreamKey& key) {
  constexpr Index dimension = 8;
  static const Problem problem =
      find_problem("double-well")->make({.records = 4, .dimension = dimension, .seed = 3});
  Curator curator(problem.facts,
                  *problem.records,
                  {Calibrator::cks, {}, std::numeric_limits<double>::max(), 0.0, 0.0, 0.0},
                  key);
  Vector noise(dimension);
  // So much of it that nothing else is left.
  constexpr double limit = 1e-90;
  curator.gradient(Point(problem.facts.initial_point),
                   curator.draw(BatchPolicy::all()),
                   {limit, Noise::standard_deviation(1.0)},
                   noise);
  return noise;
}

std::string complaint_of_keys(const NoiseOfKey& noise_of) {
  const std::vector<NamedKey> keys = keys_one_bit_apart();
  if (std::string common = common_words(keys); !common.empty()) return common;
  std::vector<Vector> noises;
  JointLaw law(0);
  for (const NamedKey& named : keys) {
    Vector noise = noise_of(named.key);
    for (std::size_t k = 0; k < noises.size(); ++k)
      if (same_bits(noise, noises[k]))
        return fmt::format(
            "a run has the same noise with {} changed as with {}", named.name, keys[k].name);
    law.begin_run();
    law.add("vector", "gradient", noise);
    law.end_run({});
    noises.push_back(std::move(noise));
  }
  std::vector<Finding> findings;
  law.test(findings);
  return complaint_of(findings);
}

std::uint64_t first_word_of_system() {
  SystemEntropy source;
  return source.bits();
}

std::string complaint_of_entropy(std::int64_t sources, const FirstWord& first_word) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(sources));
  for (std::uint64_t& word : words) word = first_word();
  std::vector<Finding> findings;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto set = std::ranges::count_if(
        words, [bit](std::uint64_t word) { return ((word >> bit) & 1U) != 0; });
    findings.push_back({two_sided_binomial(set, sources, 0.5),
                        fmt::format("bit {} is set in {} of {} sources", bit, set, sources)});
  }
  std::ranges::sort(words);
  const auto same = std::ranges::adjacent_find(words);
  if (same != words.end())
    return fmt::format("of {} sources of system entropy two begin with {:016x}", sources, *same);
  return complaint_of(findings);
}

}  // namespace dpsosp::audit
