// SPDX-License-Identifier: Apache-2.0
// Loaders and the families of real data; what needs the real files is skipped without them.
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "../core/scratch_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/data_files.hpp"
#include "dpsosp/problems/mnist_glm.hpp"
#include "dpsosp/problems/randhie_glm.hpp"

namespace dpsosp::glm_data_test {
namespace {

namespace fs = std::filesystem;

/// A folder that $DPSOSP_DATA names while it lives.
class DataFolder : public ScratchFolder {
 public:
  DataFolder() {
    if (const char* old = std::getenv("DPSOSP_DATA")) old_ = old;
    setenv("DPSOSP_DATA", path().c_str(), 1);
  }
  ~DataFolder() {
    if (old_)
      setenv("DPSOSP_DATA", old_->c_str(), 1);
    else
      unsetenv("DPSOSP_DATA");
  }

 private:
  std::optional<std::string> old_;
};

std::string message(const auto& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string idx(std::initializer_list<unsigned char> shape, const std::string& entries) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(shape.size())};
  for (const unsigned char size : shape) bytes += {'\0', '\0', '\0', static_cast<char>(size)};
  return bytes + entries;
}

TEST(IdxReader, ReadsLastDimensionFastest) {
  const DataFolder folder;
  const IdxArray array = read_idx(folder.write("a", idx({2, 3}, "abcdef")), 2);
  EXPECT_EQ(array.shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(std::string(array.values.begin(), array.values.end()), "abcdef");
}

TEST(IdxReader, RejectsOtherFormatsAndLengthsInOneLine) {
  const DataFolder folder;
  const auto refusal = [&](const std::string& bytes, std::size_t dimensions) {
    const fs::path file = folder.write("a", bytes);
    const std::string text = message([&] { read_idx(file, dimensions); });
    EXPECT_TRUE(text.starts_with(file.string())) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return text;
  };
  EXPECT_NE(refusal("", 1).find("not an idx file"), std::string::npos);
  EXPECT_NE(refusal(idx({2, 3}, "abcdef"), 1).find("not an idx file"), std::string::npos);
  EXPECT_NE(refusal("\x1f\x8b\x08\x03zipped", 3).find("not an idx file"), std::string::npos);
  EXPECT_NE(refusal(idx({2, 3}, "abcdef").substr(0, 9), 2).find("within its header"),
            std::string::npos);
  EXPECT_NE(refusal(idx({2, 3}, "abcde"), 2).find("17 bytes, expected 18"), std::string::npos);
  EXPECT_NE(refusal(idx({2, 3}, "abcdefg"), 2).find("19 bytes, expected 18"), std::string::npos);
  // 2^32 - 1, 2^32 - 1 and 2^24 entries: the capped product must not wrap around to none at all
  const std::string wrapped =
      std::string("\0\0\x08\x03", 4) + std::string(8, '\xff') + std::string("\x01\0\0\0", 4);
  EXPECT_NE(refusal(wrapped, 3).find("16 bytes, expected"), std::string::npos);
  const std::string huge{'\0', '\0', '\x08', '\x02', '\x7f', '\0',
                         '\0', '\0', '\x7f', '\0',   '\0',   '\0'};
  EXPECT_NE(refusal(huge, 2).find("12 bytes, expected"), std::string::npos);
  EXPECT_NE(message([&] { read_idx(folder.path() / "none", 1); }).find("cannot be read"),
            std::string::npos);
  EXPECT_NE(message([&] { read_idx(folder.path(), 1); }).find("cannot be read"), std::string::npos);
}

TEST(DataFamilies, ReportMissingFilesAndKeepPublicFacts) {
  const DataFolder folder;
  const std::string mnist = (folder.path() / "mnist/train-images-idx3-ubyte").string() +
                            " is missing; fetch it with ./run data";
  EXPECT_EQ(MnistGlm().missing(), mnist);
  EXPECT_EQ(message([] { MnistGlm().make({.records = 10}); }), "mnist-glm: " + mnist);
  EXPECT_EQ(MnistGlm().facts({.records = 10}).dimension, 785);
  EXPECT_EQ(RandhieGlm().facts({.records = 10}).dimension, 10);
  EXPECT_NE(RandhieGlm().missing().find("randhie.csv is missing"), std::string::npos);
}

TEST(DataFamilies, RejectBadSettingsBeforeReadingFiles) {
  const DataFolder folder;
  const auto refused = [](auto family, Index n, const std::string& word, auto&& change) {
    change(family);
    const std::string text = message([&] { family.make({.records = n}); });
    EXPECT_NE(text.find(word), std::string::npos) << text;
  };
  refused(MnistGlm(), 60001, "at most 60000", [](auto&) {});
  refused(MnistGlm(), 0, "records", [](auto&) {});
  refused(MnistGlm(), 10, "digit", [](auto& f) { f.digit = 10; });
  refused(MnistGlm(), 10, "radius", [](auto& f) { f.radius = -1; });
  refused(MnistGlm(), 10, "scale", [](auto& f) {
    f.loss.text = "tukey";
    f.loss.scale = 0;
  });
  refused(RandhieGlm(), 20191, "at most 20190", [](auto&) {});
}

TEST(DataFamilies, RejectFilesOfOtherSize) {
  const DataFolder folder;
  folder.write("mnist/train-images-idx3-ubyte", idx({1, 2, 2}, "abcd"));
  folder.write("mnist/train-labels-idx1-ubyte", idx({1}, "a"));
  EXPECT_NE(message([] { MnistGlm().make({.records = 1}); }).find("1 x 2 x 2, expected 60000"),
            std::string::npos);
  folder.write("randhie/randhie.csv",
               "mdvis,lncoins,idp,lpi,fmde,physlm,disea,hlthg,hlthf,hlthp\n0,0,0,0,0,0,0,0,0,0\n");
  EXPECT_NE(message([] { RandhieGlm().make({.records = 1}); }).find("1 records, expected 20190"),
            std::string::npos);
}

/// ∇f of record i at 0 is φ′(0; y) x: its length over |φ′|.
double feature_length(const Problem& p, Index i, double slope) {
  Vector g = Vector::Zero(p.facts.dimension);
  const Vector origin = g;
  p.records->add_gradients(Point(origin), Block::x, BatchView(i, i + 1), 1e9, g);
  return g.norm() / slope;
}

TEST(Mnist, HasKnownDigitsAndBoundedFeatures) {
  MnistGlm family;
  if (const std::string missing = family.missing(); !missing.empty()) GTEST_SKIP() << missing;
  family.permuted = false;
  family.bias = false;
  const Problem p = family.make({.records = 2000});
  for (Index i = 0; i < 2000; ++i) EXPECT_NEAR(feature_length(p, i, 0.125), 1, 1e-12);
  family.scaling = MnistGlm::Scaling::range;
  family.digit = 5;  // the first image is a five
  const Problem five = family.make({.records = 1});
  Vector g = Vector::Zero(784);
  const Vector origin = g;
  five.records->add_gradients(Point(origin), Block::x, BatchView(0, 1), 1e9, g);
  EXPECT_LT(g.sum(), 0);
  EXPECT_NEAR(g[5 * 28 + 12], -0.125 * 3 / 255 / 28, 1e-15);  // its first grey pixel
  // F at 0 does not tell the labels apart, its slope along the mean does: 5851 eights of 60000
  family.digit = 8;
  family.bias = true;
  const Problem all = family.make({.records = 60000});
  Vector mean(785);
  all.empirical->gradient(Vector::Zero(785), mean);
  const double ones = 5851.0 / 60000;
  EXPECT_NEAR(mean[784] * std::sqrt(2.0), 0.125 * (1 - 2 * ones), 1e-12);
}

TEST(Mnist, DataSeedPermutesRecords) {
  MnistGlm family;
  if (const std::string missing = family.missing(); !missing.empty()) GTEST_SKIP() << missing;
  const Vector w = Vector::Constant(785, 0.1);
  const auto value = [&](std::uint64_t seed) {
    return family.make({.records = 500, .data_seed = seed}).empirical->value(w);
  };
  EXPECT_NE(value(1), value(2));
  EXPECT_EQ(value(1), value(1));
}

TEST(Randhie, HasKnownVisitShareAndBoundedFeatures) {
  RandhieGlm family;
  if (const std::string missing = family.missing(); !missing.empty()) GTEST_SKIP() << missing;
  const Problem p = family.make({.records = 20190});
  for (Index i = 0; i < 20190; ++i) EXPECT_LE(feature_length(p, i, 0.125), 1);
  Vector mean(10);
  p.empirical->gradient(Vector::Zero(10), mean);
  const double ones = 13882.0 / 20190;  // at least one visit
  EXPECT_NEAR(mean[9] * std::sqrt(2.0), 0.125 * (1 - 2 * ones), 1e-12);
}

}  // namespace
}  // namespace dpsosp::glm_data_test
