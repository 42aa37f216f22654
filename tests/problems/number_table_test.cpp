// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/number_table.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "../core/scratch_folder.hpp"

namespace dpsosp::number_table_test {
namespace {

namespace fs = std::filesystem;

NumberTable read(const std::string& content, const std::string& name = "t.csv") {
  const ScratchFolder folder;
  return read_table(folder.write(name, content));
}

/// What refuses a file of this content, without its folder; "none" if nothing does.
std::string refusal(const std::string& content, const std::string& name = "t.csv") {
  const ScratchFolder folder;
  try {
    read_table(folder.write(name, content));
  } catch (const InputError& e) {
    const std::string text = e.what(), before = folder.path().string() + "/";
    EXPECT_TRUE(text.starts_with(before)) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return text.substr(before.size());
  }
  return "none";
}

const Matrix two_records{{1, 3}, {2, -4}};

TEST(NumberTable, ReadsCsvAsPeopleWriteIt) {
  for (const std::string text :
       {"a,b\n1,2\n3,-4\n", "a,b\r\n1,2\r\n3,-4",
        "\xEF\xBB\xBF"
        "a,b\n1,2\n3,-4\n",
        "a, b\n 1 ,+2\n3,\t-4 \n", "a;b\n1;2\n3;-4\n", "a\tb\n1\t2\n3\t-4\n",
        "\"a\",\"b\"\n\"1\",\"2\"\n3,-0.4e1\n", "a,b\n1,2\n3,-4\n\n\r\n  \n"}) {
    const NumberTable table = read(text);
    EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b"})) << text;
    EXPECT_EQ(table.records, two_records) << text;
  }
}

TEST(NumberTable, SaysWhatItTook) {
  EXPECT_EQ(read("a,b\n1,2\n").format, "CSV, separated by ','");
  EXPECT_EQ(read("a;b, in cm;c\n1;2;3\n").format, "CSV, separated by ';'");
  EXPECT_EQ(read("a;b,c\n1,2\n").format, "CSV, separated by ','") << "the first of equals";
  EXPECT_EQ(read("a\tb\n1\t2\n").format, "CSV, separated by tabs");
  EXPECT_EQ(read("\"  long\r\nname \",b\n1,2\n").columns.front(), "long name");
  const NumberTable table = read("\"two\nlines\",b\n1,2\n3,4\n");
  EXPECT_TRUE(table.place(1, 1).ends_with("t.csv, line 4, column 'b'")) << table.place(1, 1);
}

TEST(NumberTable, RefusesNamesByWhichColumnsCannotBeTold) {
  EXPECT_EQ(
      refusal(",a,y\n0,1,0\n"),
      "t.csv, line 1: column 1 has no name; row numbers, as pandas writes without index=False, "
      "are no feature");
  EXPECT_EQ(refusal("a,y,\n1,0,\n"),
            "t.csv, line 1: column 3 has no name; the line ends in a separator");
  EXPECT_EQ(refusal("a, ,y\n1,2,0\n"), "t.csv, line 1: column 2 has no name");
  EXPECT_EQ(refusal("a,b,a \n1,2,3\n"), "t.csv, line 1: columns 1 and 3 are both 'a'");
  EXPECT_EQ(refusal("1,2,+3\n4,5,6\n"),
            "t.csv, line 1: has numbers, expected the names of the columns");
  EXPECT_EQ(refusal("a b y\n1 2 0\n"),
            "t.csv, line 1: has one column, expected several, separated by ',', ';' or tab");
  EXPECT_EQ(refusal("\na,b\n1,2\n"), "t.csv, line 1: is empty, expected the names of the columns");
  EXPECT_EQ(refusal("sep=;\na;b\n1;2\n"),
            "t.csv, line 1: is a note for spreadsheets, expected the names of the columns");
  EXPECT_EQ(refusal("gr\xF6\xDF"
                    "e,y\n1,2\n"),
            "t.csv, line 1: column 1 has a name that is no UTF-8");
  EXPECT_EQ(refusal("a\x01,y\n1,2\n"),
            "t.csv, line 1: column 1 has a control character in its name");
  // What cannot be seen makes no other name, and is shown.
  EXPECT_EQ(
      refusal("a,\xC2\xA0,y\n1,2,0\n"),
      "t.csv, line 1: column 2 has a character in its name that cannot be seen: '\\xc2\\xa0'");
  EXPECT_EQ(refusal("a,a\xE2\x80\x8B,y\n1,2,0\n"),
            "t.csv, line 1: column 2 has a character in its name that cannot be seen: "
            "'a\\xe2\\x80\\x8b'");
  EXPECT_EQ(refusal("1,NA,0\n3,-4,1\n"),
            "t.csv, line 1: has numbers, expected the names of the columns");
}

TEST(NumberTable, ReadsWhatIsTooSmallAsTheNearestNumber) {
  const ScratchFolder folder;
  const NumberTable t = read_table(folder.write("t.csv", "a,y\n1e-400,-1e-320\n"));
  EXPECT_EQ(t.records(0, 0), 0);
  EXPECT_EQ(t.records(1, 0), -1e-320);
  EXPECT_NE(refusal("a,y\n1e400,0\n").find("'1e400', expected a finite number"), std::string::npos);
}

TEST(NumberTable, NamesTheFirstBadCellOfTheFile) {
  const std::string head = "a,b\n1,2\n";
  for (const auto& [cell, said] :
       std::vector<std::pair<std::string, std::string>>{{"x", "'x'"},
                                                        {"", "an empty cell"},
                                                        {" ", "an empty cell"},
                                                        {"2x", "'2x'"},
                                                        {"+-2", "'+-2'"},
                                                        {"nan", "'nan'"},
                                                        {"-inf", "'-inf'"},
                                                        {"1e999", "'1e999'"}})
    EXPECT_EQ(refusal(head + "3," + cell + "\nz,4\n"),
              "t.csv, line 3, column 'b': " + said + ", expected a finite number");
  EXPECT_EQ(refusal("a;y\n0,5;1\n"),
            "t.csv, line 2, column 'a': '0,5', expected a number with a decimal point");
  EXPECT_EQ(refusal(head + "3\n"),
            "t.csv, line 3: 1 cell, expected 2 as in line 1, separated by ','");
  EXPECT_EQ(refusal(head + "3,4,\n"),
            "t.csv, line 3: 3 cells, expected 2 as in line 1, separated by ','; the line ends in a "
            "separator");
  EXPECT_EQ(refusal(head + "\n3,4\n"), "t.csv, line 3 is empty, expected a record");
  EXPECT_LT(refusal(head + "3," + std::string(100000, 'x') + "\n").size(), 200U);
}

TEST(NumberTable, KeepsCellsOutOfMessagesOfReleases) {
  const ScratchFolder folder;
  for (const std::string cell : {"secret", "", "0,5"}) {
    const fs::path file = folder.write("t.csv", "a;b\n1;" + cell + "\n");
    try {
      without_cells([&] { return read_table(file); });
      ADD_FAILURE() << cell;
    } catch (const CellRefused&) {
      ADD_FAILURE() << "with its cell";
    } catch (const InputError& e) {
      EXPECT_EQ(e.what(),
                file.string() +
                    ", line 2, column 'b': refused; a release does not show what stands there");
    }
  }
}

TEST(NumberTable, TellsKindsByTheirFirstBytes) {
  EXPECT_EQ(refusal("\x1f\x8b\x08 packed"),
            "t.csv is packed by gzip, expected CSV or NPY: unpack it first");
  EXPECT_EQ(refusal("BZh91AY"), "t.csv is packed by bzip2, expected CSV or NPY: unpack it first");
  EXPECT_EQ(refusal("PAR1\x15\x04"), "t.csv begins as a Parquet file, expected CSV or NPY");
  EXPECT_EQ(refusal("[{\"a\": 1}]"), "t.csv begins as JSON, expected CSV or NPY");
  EXPECT_EQ(refusal(std::string("PK\x03\x04") + "........weights.npy"),
            "t.csv is an NPZ archive, expected one array of it, as numpy.save writes");
  EXPECT_EQ(refusal("PK\x03\x04 xl/workbook.xml"),
            "t.csv is a zip archive, as spreadsheets are, expected CSV or NPY");
  EXPECT_EQ(refusal(std::string("\xFF\xFE"
                                "a\0,\0",
                                6)),
            "t.csv is text in UTF-16, expected UTF-8");
  EXPECT_EQ(refusal("<!DOCTYPE html>\n"),
            "t.csv begins with '<', as web pages do, expected CSV or NPY");
  EXPECT_EQ(refusal(std::string("a,b\n\0\0", 6)), "t.csv is neither text nor NPY");
  EXPECT_EQ(refusal("a,b\r1,2\r"), "t.csv ends its lines in CR alone, expected LF or CRLF");
  EXPECT_EQ(refusal(""), "t.csv is empty, expected a table");
  EXPECT_EQ(refusal("\xEF\xBB\xBF"), "t.csv is empty, expected a table");
  EXPECT_EQ(refusal("a,b\n1,2\n", "t.NPY"), "t.NPY does not begin as an NPY file");
}

TEST(NumberTable, SaysOfWhatCannotBeReadWhatItIs) {
  const ScratchFolder folder;
  const auto said = [&](const fs::path& file) {
    try {
      read_table(file);
    } catch (const InputError& e) {
      return std::string(e.what()).substr(file.string().size());
    }
    return std::string("none");
  };
  EXPECT_EQ(said(folder / "none.csv"), " does not exist");
  EXPECT_EQ(said(folder.path()), " is a folder");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(said(folder / "pipe"), " is a pipe, which can be read only once");
}

/// An NPY file with this header, padded as NumPy does.
std::string npy(std::string header, const std::string& entries, int version = 1) {
  header.resize(std::max<std::size_t>(header.size() + 1, 118), ' ');
  header.back() = '\n';
  std::string head("\x93NUMPY");
  head += static_cast<char>(version);
  head += '\0';
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k)
    head += static_cast<char>((header.size() >> (8 * k)) & 255);
  return head + header + entries;
}
template <class T>
std::string bytes(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}
const std::string doubles = bytes<double>({1, 2, 3, -4});

TEST(NumberTable, ReadsEveryHeaderThatNumpyReads) {
  for (const std::string header : {
           "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }",
           "{'shape': (2, 2), 'fortran_order': False, 'descr': '<f8'}",
           "{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": (2, 2)}",
           "{'descr':'<f8','fortran_order':False,'shape':(2,2)}",
           " { 'descr' : '=f8' , 'fortran_order' : False , 'shape' : ( 2 , 2 , ) , } ",
           "{'descr': '|f8', 'fortran_order': False, 'shape': (2L, 2L)}",
           "{u'descr': 'd', 'fortran_order': False, 'shape': (2, 2)}",
           "{'descr': 'float64', 'fortran_order': False, 'shape': (2, 2)}",
       })
    for (const int version : {1, 2, 3}) {
      const NumberTable table = read(npy(header, doubles, version), "t.dat");
      EXPECT_EQ(table.records, two_records) << header;
      EXPECT_EQ(table.format, "NPY of float64");
      EXPECT_EQ(table.columns, (std::vector<std::string>{"1", "2"}));
    }
  EXPECT_EQ(read(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2)}",
                     bytes<double>({1, 3, 2, -4})))
                .records,
            two_records);
  EXPECT_EQ(read(npy("{'descr': 'f', 'fortran_order': False, 'shape': (2, 2)}",
                     bytes<float>({1, 2, 3, -4})))
                .records,
            two_records);
}

TEST(NumberTable, RefusesOtherNpyFiles) {
  const auto of = [](const std::string& header, const std::string& entries = doubles) {
    const std::string text = refusal(npy(header, entries), "t.npy"),
                      end = ", expected an NPY file of float64 or float32 in two dimensions";
    EXPECT_TRUE(text.starts_with("t.npy: ") && text.ends_with(end)) << text;
    return text.substr(7, text.size() - std::min(text.size(), 7 + end.size()));
  };
  const auto type = [&](const std::string& descr) {
    return of("{'descr': " + descr + ", 'fortran_order': False, 'shape': (2, 2)}");
  };
  EXPECT_EQ(type("'<i8'"), "its entries are <i8");
  EXPECT_EQ(type("'>f8'"), "its entries are >f8");
  EXPECT_EQ(type("'|O'"), "its entries are |O");
  EXPECT_EQ(type("[('a', '<f8')]"), "its entries are structures or objects");
  const auto shape = [&](const std::string& sizes) {
    return of("{'descr': '<f8', 'fortran_order': False, 'shape': " + sizes + "}");
  };
  EXPECT_EQ(shape("(4,)"), "it has 1 dimensions");
  EXPECT_EQ(shape("(1, 2, 2)"), "it has 3 dimensions");
  EXPECT_EQ(shape("(2, 3)"), "32 bytes of entries for 2 x 3 of 8");
  EXPECT_EQ(shape("(4, 0)"), "32 bytes of entries for 4 x 0 of 8");
  // products that wrap around to the 4 entries that are there
  EXPECT_EQ(shape("(4611686018427387905, 4)"),
            "32 bytes of entries for 4611686018427387905 x 4 of 8");
  EXPECT_EQ(shape("(2305843009213693954, 2)"),
            "32 bytes of entries for 2305843009213693954 x 2 of 8");
  const std::string no_header = "its header has not descr, fortran_order and shape alone";
  for (const std::string sizes :
       {"(99999999999999999999, 1)", "(2, -2)", "(2, 2", "(2 2)", "[2, 2]", "(2, 2)}}"})
    EXPECT_EQ(shape(sizes), no_header) << sizes;
  EXPECT_EQ(of("{'descr': '<f8', 'shape': (2, 2)}"), no_header);
  EXPECT_EQ(of("'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)"), no_header);
  EXPECT_EQ(of("{'descr': '<f8', 'fortran_order': 1, 'shape': (2, 2)}"), "its fortran_order is 1");
  EXPECT_EQ(refusal("\x93NUMPY\x07"),
            "t.csv: its version is none of 1, 2 and 3, expected an NPY "
            "file of float64 or float32 in two dimensions");
  EXPECT_EQ(refusal(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2)}",
                        bytes<double>({1, HUGE_VAL, std::nan(""), 1})),
                    "t.npy"),
            "t.npy, row 1, column 2: nan, expected a finite number")
      << "the first of the first record, whatever the order in the file";
}

/// Tables of genes have hundreds of thousands of columns.
TEST(NumberTable, TakesTimeInProportionToItsColumns) {
  const ScratchFolder folder;
  const auto seconds = [&](int columns) {
    std::string names, record;
    for (int j = 0; j < columns; ++j) {
      names += (j > 0 ? ",g" : "g") + std::to_string(j);
      record += j > 0 ? ",0.5" : "0.5";
    }
    const fs::path file = folder.write("wide.csv", names + "\n" + record + "\n" + record + "\n");
    double least = HUGE_VAL;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::clock_t before = std::clock();
      EXPECT_EQ(read_table(file).records.rows(), columns);
      least = std::min(least, static_cast<double>(std::clock() - before));
    }
    return least;
  };
  EXPECT_LT(seconds(80000), 64 * seconds(5000)) << "16 if linear, 256 if quadratic";
}

}  // namespace
}  // namespace dpsosp::number_table_test
