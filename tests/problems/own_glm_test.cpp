// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
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
  std::string refusal(const OwnGlm& f) const {
    try {
      f.make({.records = f.default_records()});
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
  f.loss.kind = LossOption::Kind::logistic;
  EXPECT_EQ(f.default_records(), 3);
  const Problem p = f.make({.records = 3});
  EXPECT_EQ(p.facts.dimension, 2);
  // The gradient at 0 is (s(0) - y) x: of the first record, whose features are shortened to (0.6,
  // 0.8).
  Vector g = Vector::Zero(2);
  p.records->add_gradients(Point(Vector::Zero(2)),
                           Block::x,
                           BatchView(0, 1),
                           std::numeric_limits<double>::infinity(),
                           g);
  EXPECT_NEAR(g[0], -0.5 * 0.6, 1e-15);
  EXPECT_NEAR(g[1], -0.5 * 0.8, 1e-15);
  f.longest = 5;
  g.setZero();
  f.make({.records = 3})
      .records->add_gradients(Point(Vector::Zero(2)),
                              Block::x,
                              BatchView(1, 2),
                              std::numeric_limits<double>::infinity(),
                              g);
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
  for (const auto kind :
       {LossOption::Kind::logistic, LossOption::Kind::sigmoid_square, LossOption::Kind::welsch}) {
    const auto gradients = [&](const std::string& last) {
      std::string table = "a,b,y\n";
      for (Index i = 0; i + 1 < rows; ++i)
        table += std::to_string(i) + "," + std::to_string(7 + i % 3) + "," + std::to_string(i % 2) +
                 "\n";
      OwnGlm f = family(write("last.csv", table + last + "\n"));
      f.loss.kind = kind;
      const Problem p = f.make({.records = rows});
      Matrix all = Matrix::Zero(2, rows - 1);
      const Vector x = Vector::Constant(2, 0.1);
      for (Index i = 0; i + 1 < rows; ++i)
        p.records->add_gradients(Point(x), Block::x, BatchView(i, i + 1), 1e12, all.col(i));
      return all;
    };
    const Matrix original = gradients("3,8,1");
    int read = 0;
    for (const char* last : {"3,8,0",
                             "3,8,-1",
                             "3,8,0.5",
                             "3,8,2",
                             "3,8,100",
                             "3,8,1e300",
                             "-1e300,8,1",
                             "1e300,1e300,0",
                             "0,0,0",
                             "1e-300,0,1",
                             "nan,1,1",
                             "inf,1,0",
                             "1,2,nan",
                             "-1,-1,-1"}) {
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

TEST_F(OwnData, NpyIsReadInBothOrdersAndWidths) {
  const Matrix expected{{1, 2, 0.5}, {3, 4, 1}};
  const auto read = [&](const std::string& content) {
    return read_own_table(write("t.npy", content)).values;
  };
  EXPECT_EQ(read(npy("<f8", "False", bytes<double>({1, 2, 0.5, 3, 4, 1}))), expected);
  EXPECT_EQ(read(npy("<f8", "True", bytes<double>({1, 3, 2, 4, 0.5, 1}))), expected);
  EXPECT_EQ(read(npy("<f4", "False", bytes<float>({1, 2, 0.5F, 3, 4, 1}))), expected);
}

TEST_F(OwnData, EachFaultIsRefusedByLine) {
  const auto of = [&](const std::string& content) {
    return refusal(family(write("t.csv", content)));
  };
  EXPECT_EQ(of("a,b,y\n1,2,0\n1.5,,1\n"), "t.csv, line 3: b = '', expected a number");
  EXPECT_EQ(of("a,b,y\n1,red,0\n"), "t.csv, line 2: b = 'red', expected a number");
  EXPECT_EQ(of("a,b,y\n1,nan,0\n"), "t.csv, line 2: b = 'nan', expected a number");
  EXPECT_EQ(of("a,b,y\n1,2\n"), "t.csv, line 2: 2 cells, expected 3");
  EXPECT_EQ(of("a,b,y\n1,2,0\n1,3,1\n"),
            "t.csv: column 'a' is constant, expected one that says something");
  EXPECT_EQ(of("a,b,y\n1,2,0\n2,3,7\n"),
            "t.csv, record 2: label 7, expected one in [0, 1] for loss = sigmoid_square");
  EXPECT_EQ(of("a,b,a,y\n1,2,3,0\n4,5,6,1\n"), "t.csv, line 1: two columns 'a'");
  EXPECT_EQ(of("1,2,3\n4,5,6\n"), "t.csv, line 1: numbers, expected the names of the columns");
  OwnGlm f = family(write("t.csv", "a,b,y\n1,2,0\n2,3,1\n"));
  f.label = "z";
  EXPECT_NE(refusal(f).find("unknown column of t.csv 'z'"), std::string::npos);
  const auto of_npy = [&](const std::string& content) {
    OwnGlm table = family(write("t.npy", content));
    try {
      table.default_records();
    } catch (const InputError& e) {
      return std::string(e.what()).substr(folder_.string().size() + 1);
    }
    return std::string("none");
  };
  EXPECT_NE(of_npy("no").find("t.npy: it does not begin as one"), std::string::npos);
  EXPECT_NE(
      of_npy(npy("<i8", "False", bytes<double>({1, 2, 0.5, 3, 4, 1}))).find("entries are '<i8'"),
      std::string::npos);
  EXPECT_NE(
      of_npy(npy("<f8", "False", bytes<double>({1, 2}))).find("its length is not its shape's"),
      std::string::npos);
  EXPECT_EQ(of_npy(npy("<f8", "True ", bytes<double>({1, 3, 2, 4, 0.5, 1}))), "none");
  EXPECT_NE(of_npy(npy("<f8", "1", bytes<double>({1, 2, 0.5, 3, 4, 1}))).find("fortran_order is 1"),
            std::string::npos);
  EXPECT_EQ(of_npy(npy("<f8", "False", bytes<double>({1, std::nan(""), 0.5, 3, 4, 1}))),
            "t.npy, row 1: column 2 is not finite");
}

}  // namespace
}  // namespace dpsosp::own_glm_test
