// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/problems/own_glm.hpp"

namespace dpsosp::own_glm_test {
namespace {

namespace fs = std::filesystem;

class OwnData : public testing::Test {
 protected:
  OwnData() { fs::create_directories(folder_); }
  ~OwnData() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
  OwnGlm family(const std::string& file) const {
    OwnGlm f;
    f.data = file;
    f.bias = false;
    f.permuted = false;
    return f;
  }
  /// The refusal without the folder; "none" if there is none.
  std::string refusal(const OwnGlm& f, std::uint64_t data_seed = 0) const {
    try {
      f.make({.records = f.default_records(), .data_seed = data_seed});
    } catch (const InputError& e) {
      std::string line = e.what();
      for (auto at = line.find(folder_.string()); at != std::string::npos;
           at = line.find(folder_.string()))
        line.erase(at, folder_.string().size() + 1);
      return line;
    }
    return "none";
  }
  fs::path folder_ = fs::temp_directory_path() / ("dpsosp-own-data-" + std::to_string(::getpid()));
};

std::string npy(const std::string& type, const std::string& order, const std::string& entries) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (2, 3), }";
  header.resize(118, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + std::string("\x77\x00", 2) + header + entries;
}
template <class T>
std::string bytes(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

TEST_F(OwnData, SizesComeFromTheFileAndRecordsAreShortenedOneByOne) {
  OwnGlm f = family(write("t.csv", "a,y,b\n3,1,4\n0.3,0,0.4\n0.1,0.5,0\n"));
  f.label = "y";
  f.loss.text = "logistic";
  EXPECT_EQ(f.default_records(), 3);
  const Problem p = f.make({.records = 3});
  EXPECT_EQ(p.facts.dimension, 2);
  // The gradient at 0 is (s(0) - y) x: of the first record, whose features are shortened to (0.6,
  // 0.8).
  Vector g = Vector::Zero(2);
  p.records->add_gradients(Point(Vector::Zero(2)), Block::x, BatchView(0, 1),
                           std::numeric_limits<double>::infinity(), g);
  EXPECT_NEAR(g[0], -0.5 * 0.6, 1e-15);
  EXPECT_NEAR(g[1], -0.5 * 0.8, 1e-15);
  f.longest = 5;
  g.setZero();
  f.make({.records = 3})
      .records->add_gradients(Point(Vector::Zero(2)), Block::x, BatchView(1, 2),
                              std::numeric_limits<double>::infinity(), g);
  EXPECT_NEAR(g[0], 0.5 * 0.3 / 5, 1e-15);
}

TEST_F(OwnData, EveryRowIsOneRecordForAnyDataSeed) {
  std::string table = "a,b,y\n";
  constexpr Index rows = 37;
  for (Index i = 0; i < rows; ++i)
    table +=
        std::to_string(i) + "," + std::to_string(70 + i % 3) + "," + std::to_string(i % 2) + "\n";
  OwnGlm f = family(write("t.csv", table));
  f.permuted = true;
  const Vector x = Vector::Constant(2, 0.1);
  const auto gradients = [&](std::uint64_t data_seed) {
    const Problem p = f.make({.records = rows, .data_seed = data_seed});
    std::vector<double> all;
    for (Index i = 0; i < rows; ++i) {
      Vector g = Vector::Zero(2);
      p.records->add_gradients(Point(x), Block::x, BatchView(i, i + 1), 1e12, g);
      all.push_back(g[0]);
    }
    return all;
  };
  auto first = gradients(0);
  EXPECT_NE(gradients(1), first);
  std::ranges::sort(first);
  EXPECT_EQ(std::ranges::adjacent_find(first), first.end());
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    auto other = gradients(seed);
    std::ranges::sort(other);
    EXPECT_EQ(other, first) << seed;
  }
}

/// What a record is, and where it stands, depends on no other row of the table.
TEST_F(OwnData, ExchangingARowExchangesOneRecord) {
  constexpr Index rows = 37;
  const auto gradients = [&](Index exchanged) {
    std::string table = "a,b,y\n";
    for (Index i = 0; i < rows; ++i)
      table += i == exchanged ? std::string(i % 2 == 0 ? "9,-7,1\n" : "-8,200,0\n")
                              : std::to_string(i) + "," + std::to_string(70 + i % 3) + "," +
                                    std::to_string(i % 2) + "\n";
    OwnGlm f = family(write("exchanged" + std::to_string(exchanged) + ".csv", table));
    f.permuted = true;
    const Problem p = f.make({.records = rows, .data_seed = 3});
    Matrix all = Matrix::Zero(2, rows);
    const Vector x = Vector::Constant(2, 0.1);
    for (Index i = 0; i < rows; ++i)
      p.records->add_gradients(Point(x), Block::x, BatchView(i, i + 1), 1e12, all.col(i));
    return all;
  };
  const Matrix original = gradients(-1);
  for (const Index exchanged : {Index{0}, Index{7}, Index{20}, rows - 1}) {
    const Matrix difference = gradients(exchanged) - original;
    EXPECT_EQ((difference.colwise().norm().array() > 0).count(), 1) << exchanged;
  }
}

/// A row of any contents is that record alone: it does not decide what the entries of others mean.
/// Or the table is refused.
TEST_F(OwnData, OneRowDecidesNothingOfTheOthers) {
  constexpr Index rows = 12;
  for (const auto kind : {"logistic", "sigmoid_square", "welsch"}) {
    const auto gradients = [&](const std::string& last) {
      std::string table = "a,b,y\n";
      for (Index i = 0; i + 1 < rows; ++i)
        table += std::to_string(i) + "," + std::to_string(7 + i % 3) + "," + std::to_string(i % 2) +
                 "\n";
      OwnGlm f = family(write("last.csv", table + last + "\n"));
      f.loss.text = kind;
      const Problem p = f.make({.records = rows});
      Matrix all = Matrix::Zero(2, rows - 1);
      const Vector x = Vector::Constant(2, 0.1);
      for (Index i = 0; i + 1 < rows; ++i)
        p.records->add_gradients(Point(x), Block::x, BatchView(i, i + 1), 1e12, all.col(i));
      return all;
    };
    const Matrix original = gradients("3,8,1");
    int read = 0;
    for (const char* last :
         {"3,8,0", "3,8,-1", "3,8,0.5", "3,8,2", "3,8,100", "3,8,1e300", "-1e300,8,1",
          "1e300,1e300,0", "0,0,0", "1e-300,0,1", "nan,1,1", "inf,1,0", "1,2,nan", "-1,-1,-1"}) {
      try {
        EXPECT_EQ(gradients(last), original) << last;
        ++read;
      } catch (const InputError&) {  // such tables are refused
      }
    }
    EXPECT_GT(read, 3);
  }
}

TEST_F(OwnData, IsHiddenFromGuestsOnceRead) {
  const std::string csv = write("unread.csv", "a,b,y\n3,4,1\n0,1,0\n");
  const std::string binary =
      write("unread.npy", npy("<f8", "False", bytes<double>({1, 2, 0.5, 3, 4, 1})));
  for (const std::string& file : {csv, binary}) {
    EXPECT_EQ(hidden_among({file}), "") << file;
    family(file).make({.records = 2});
    EXPECT_NE(hidden_among({file}), "") << file;
  }
  EXPECT_NE(hidden_among({folder_.string()}), "");
}

TEST_F(OwnData, FactsNeedNoRecordButTheTablesSize) {
  OwnGlm f = family(write("t.csv", "a,b,y\n3,4,1\n0,1,0\n"));
  const PublicFacts facts = f.facts({.records = 2});
  EXPECT_EQ(facts.dimension, 2);
  EXPECT_EQ(refusal([&] {
              OwnGlm more = f;
              return more;
            }()),
            "none");
  EXPECT_THROW(f.facts({.records = 3}), InputError);
  EXPECT_EQ(OwnGlm().missing(), "data is not set; name a table, as --set problem.data=FILE.csv");
}

TEST_F(OwnData, EachFaultIsRefusedByItsPlace) {
  const auto of = [&](const std::string& content, Index seed = 0) {
    OwnGlm f = family(write("t.csv", content));
    f.permuted = true;
    return refusal(f, static_cast<std::uint64_t>(seed));
  };
  EXPECT_EQ(of("a,b,y\n1.5,,1\n"),
            "t.csv, line 2, column 'b': an empty cell, expected a finite number");
  EXPECT_EQ(of("a,b,y\n"), "t.csv has no records");
  std::string table = "a,b,y\n";
  for (int i = 0; i < 30; ++i) table += std::to_string(i) + ",1,0\n";
  for (int i = 0; i < 30; ++i) table += std::to_string(i) + ",1,7\n";
  for (const Index seed : {1, 2, 3})
    EXPECT_EQ(of(table, seed),
              "t.csv, line 32, column 'y': label 7, expected one in [0, 1] for loss = "
              "sigmoid_square (labels = signs takes -1 and 1)")
        << "the first of the file, whatever the order of the run";
  OwnGlm f = family(write("t.csv", "a,b,y\n1,2,0\n2,3,1\n"));
  f.label = "z";
  EXPECT_EQ(refusal(f), "unknown column of t.csv 'z', expected one of a, b, y");
  f.label = "Y";
  EXPECT_EQ(refusal(f), "unknown column of t.csv 'Y'; did you mean 'y'?");
  f.label = "y";
  for (const auto& [ranges, said] : std::vector<std::pair<std::string, std::string>>{
           {"a", "own-glm: ranges = a, expected NAME=LEAST:MOST,..."},
           {"a=1", "own-glm: ranges = a=1, expected NAME=LEAST:MOST,..."},
           {"a=1:x", "own-glm: ranges = a=1:x, expected NAME=LEAST:MOST,... with numbers"},
           {"a=1:1", "own-glm: ranges = a=1:1, expected LEAST below MOST"},
           {"a=0:1,a=0:2", "own-glm: ranges = a=0:2, expected each column once"},
           {"y=0:1", "own-glm: ranges = y=0:1, expected columns of x; this one is the label"},
           {"A=0:1", "unknown column of t.csv 'A'; did you mean 'a'?"}}) {
    f.ranges = ranges;
    EXPECT_EQ(refusal(f), said);
  }
}

TEST_F(OwnData, SignsAreLabelsWhereTheyAreSaidToBe) {
  OwnGlm f = family(write("t.csv", "a,b,y\n3,1,-1\n0.3,0,1\n"));
  f.loss.text = "logistic";
  EXPECT_NE(refusal(f).find("label -1"), std::string::npos);
  f.labels = OwnGlm::Labels::signs;
  EXPECT_EQ(refusal(f), "none");
  // at w = 0 the gradient is (1/2 - y) x
  const auto gradient = [&](Index record) {
    Vector g = Vector::Zero(2);
    f.make({.records = 2})
        .records->add_gradients(Point(Vector::Zero(2)), Block::x, BatchView(record, record + 1),
                                1e12, g);
    return g;
  };
  EXPECT_NEAR(gradient(0)[0], 0.5 * 3 / std::hypot(3, 1), 1e-15);
  EXPECT_NEAR(gradient(1)[0], -0.5 * 0.3, 1e-15);
  OwnGlm zero = family(write("t.csv", "a,b,y\n3,1,0\n"));
  zero.labels = OwnGlm::Labels::signs;
  EXPECT_EQ(refusal(zero),
            "t.csv, line 2, column 'y': label 0, expected -1 or 1 for labels = signs");
}

/// x/‖x‖ of finite numbers is finite and of length 1, however long they are.
TEST_F(OwnData, HugeRecordsKeepTheirDirection) {
  for (const auto& [longest, record] :
       std::vector<std::pair<double, std::string>>{{1, "3,4,1"},
                                                   {1, "3e150,4e150,1"},
                                                   {1, "3e200,4e200,1"},
                                                   {1, "3e307,4e307,1"},
                                                   {0.5, "3e307,4e307,1"},
                                                   {1e-300, "3e100,4e100,1"},
                                                   {1, "-1.0787e308,-1.4382666666666666e308,0"}}) {
    OwnGlm f = family(write("t.csv", "a,b,y\n" + record + "\n0.6,0.8,0\n"));
    f.loss.text = "logistic";
    f.longest = longest;
    Vector g = Vector::Zero(2);
    f.make({.records = 2})
        .records->add_gradients(Point(Vector::Zero(2)), Block::x, BatchView(0, 1), 1e12, g);
    EXPECT_NEAR(std::abs(g[0]), 0.3, 1e-12) << record;
    EXPECT_NEAR(std::abs(g[1]), 0.4, 1e-12) << record;
    EXPECT_GT(f.shortened({.records = 2}).largest, 1) << record;
  }
}

TEST_F(OwnData, RangesAreCutAndMappedRecordByRecord) {
  OwnGlm f = family(write("t.csv", "age,pay,y\n18,0,1\n90,100000,0\n54,25000,1\n200,1e308,0\n"));
  f.ranges = "pay=0:1e5,age=18:90";
  f.longest = 2;
  const Problem p = f.make({.records = 4});
  const auto entry = [&](Index i, Index j) {
    Vector g = Vector::Zero(2);
    p.records->add_gradients(Point(Vector::Zero(2)), Block::x, BatchView(i, i + 1), 1e12, g);
    Vector unit = Vector::Zero(2);
    p.records->add_gradients(Point(Vector::Zero(2)), Block::x, BatchView(0, 1), 1e12, unit);
    return g[j] / std::abs(unit[0]);  // x_j, as ages of -1 and 1 have it
  };
  EXPECT_NEAR(std::abs(entry(0, 0)), 1, 1e-12);
  EXPECT_NEAR(std::abs(entry(1, 1)), 1, 1e-12);
  EXPECT_NEAR(entry(2, 0), 0, 1e-12);
  EXPECT_NEAR(std::abs(entry(2, 1)), 0.5, 1e-12);
  EXPECT_NEAR(std::abs(entry(3, 0)), 1, 1e-12);
  EXPECT_NEAR(std::abs(entry(3, 1)), 1, 1e-12);
}

/// A column of one value, whoever's record would have another, is no reason to refuse.
TEST_F(OwnData, ConstantColumnsAreTakenAndNamed) {
  OwnGlm f = family(write("t.csv", "a,b,y\n1,2,0\n1,3,0\n"));
  EXPECT_EQ(refusal(f), "none");
  EXPECT_EQ(f.constant_columns(), (std::vector<std::string>{"a", "y"}));
}

TEST_F(OwnData, ColumnsLeftOutCountForNothing) {
  OwnGlm all = family(write("t.csv", "id,a,y,note,b\n1,0.5,0,7,-40\n2,2,1,1e9,30\n"));
  OwnGlm plain = family(write("u.csv", "a,y,b\n0.5,0,-40\n2,1,30\n"));
  all.without = "note,id";
  for (OwnGlm* f : {&all, &plain}) {
    f->label = "y";
    f->ranges = "b=-50:50";
    f->longest = 3;
    f->loss.text = "logistic";
  }
  EXPECT_EQ(all.feature_names(), plain.feature_names());
  const auto gradient = [](const OwnGlm& f) {
    Vector g = Vector::Zero(2);
    f.make({.records = 2})
        .records->add_gradients(Point(Vector{{0.3, -0.7}}), Block::x, BatchView(0, 2), 1e12, g);
    return g;
  };
  EXPECT_EQ(gradient(all), gradient(plain));
  EXPECT_EQ(all.score_of(Vector{{0.3, -0.7}}).weights, plain.score_of(Vector{{0.3, -0.7}}).weights);
  for (const auto& [without, said] : std::vector<std::pair<std::string, std::string>>{
           {"y", "own-glm: without = y, expected columns of x; this one is the label"},
           {"Id", "unknown column of t.csv 'Id'; did you mean 'id'?"},
           {"b", "own-glm: ranges = b=-50:50, expected columns of x; this one is left out"}}) {
    all.without = without;
    EXPECT_EQ(refusal(all), said);
  }
  all.ranges = "";
  all.without = "id,a,note,b";
  EXPECT_EQ(refusal(all), "own-glm: without = id,a,note,b, expected at least one column of x left");
}

TEST_F(OwnData, ScoreOfColumnsIsThatOfTheFeatures) {
  OwnGlm f = family(write("t.csv", "a,y,b\n1,0,-40\n2,1,30\n"));
  f.label = "y";
  f.longest = 7;
  f.ranges = "b=-50:50";
  for (const bool bias : {true, false}) {
    f.bias = bias;
    f.loss.text = "welsch";
    const Vector w{{0.3, -0.7, 0.2}};
    const OwnGlm::Score score = f.score_of(w.head(bias ? 3 : 2));
    EXPECT_EQ(f.feature_names(), (std::vector<std::string>{"a", "b"}));
    const double unit = bias ? std::sqrt(0.5) : 1.0;
    const double expected = unit * (0.3 * 2 / 7 - 0.7 * 0.6 / 7) + (bias ? unit * 0.2 : 0);
    EXPECT_NEAR(score.weights[0] * 2 + score.weights[1] * 30 + score.constant, expected, 1e-14);
  }
}

TEST_F(OwnData, JudgesByAccuracyAndAreaUnderTheCurve) {
  OwnGlm f = family(write("t.csv", "a,y\n-3,0\n-1,1\n1,0\n1,1\n2,1\n4,1\n"));
  f.longest = 5;
  const Vector w{{1.0}};
  const auto all = f.judge({.records = 6}, w, OwnGlm::Of::instance);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->records, 6);
  EXPECT_DOUBLE_EQ(all->accuracy, 4.0 / 6);
  EXPECT_DOUBLE_EQ(all->majority, 4.0 / 6);
  // of 8 pairs (y = 1, y = 0): -1 beats one of two, the tie at 1 counts one half
  EXPECT_DOUBLE_EQ(all->auc.value(), (1 + 1.5 + 2 + 2) / 8);
  EXPECT_FALSE(f.judge({.records = 6}, w, OwnGlm::Of::others));
  const auto others = f.judge({.records = 4}, w, OwnGlm::Of::others);
  ASSERT_TRUE(others);
  EXPECT_EQ(others->records, 2);
  EXPECT_EQ(others->accuracy, 1);
  EXPECT_FALSE(others->auc) << "one label alone";
  // What an instance takes and what it leaves out are all records, once.
  f.permuted = true;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const InstanceSpec four{.records = 4, .data_seed = seed};
    const auto in = f.judge(four, w, OwnGlm::Of::instance),
               out = f.judge(four, w, OwnGlm::Of::others);
    EXPECT_DOUBLE_EQ(4 * in->accuracy + 2 * out->accuracy, 6 * all->accuracy) << seed;
  }
  f.loss.text = "tukey";
  EXPECT_FALSE(f.judge({.records = 6}, w, OwnGlm::Of::instance)) << "regression";
}

TEST_F(OwnData, CountsWhatItShortens) {
  OwnGlm f = family(write("t.csv", "a,y\n0.5,0\n2,1\n-4,0\n8,1\n"));
  const OwnGlm::Shortened s = f.shortened({.records = 4});
  EXPECT_EQ(s.records, 4);
  EXPECT_EQ(s.shortened, 3);
  EXPECT_EQ(s.median, 4);
  EXPECT_EQ(s.largest, 8);
  f.longest = 8;
  EXPECT_EQ(f.shortened({.records = 4}).shortened, 0);
}

TEST_F(OwnData, CountsLabelsOutsideOfTheRangeOfAFormula) {
  OwnGlm f = family(write("t.csv", "a,y\n0.5,-1\n2,1\n-4,-1\n8,0.5\n"));
  f.loss.text = "(t - y)^2/(1 + (t - y)^2)";
  EXPECT_EQ(f.shortened({.records = 4}).labels_cut, 2);
  EXPECT_EQ(f.shortened({.records = 2}).labels_cut, 1);
  f.loss.label_least = -1;
  EXPECT_EQ(f.shortened({.records = 4}).labels_cut, 0);
  f.loss.text = "welsch";
  EXPECT_EQ(f.shortened({.records = 4}).labels_cut, 0);
}

}  // namespace
}  // namespace dpsosp::own_glm_test
