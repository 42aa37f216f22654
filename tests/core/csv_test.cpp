// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/csv.hpp"

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::csv_test {
namespace {

using Fields = std::vector<std::vector<std::string>>;

Fields fields_of(std::string_view text) {
  Fields fields;
  for (const CsvRow& row : read_csv_text("t", text)) fields.push_back(row.fields);
  return fields;
}

TEST(Csv, SplitsLinesAtCommas) {
  EXPECT_EQ(fields_of(""), Fields{});
  EXPECT_EQ(fields_of("a,b\n1,\n"), (Fields{{"a", "b"}, {"1", ""}}));
  EXPECT_EQ(fields_of("a,b\r\n1,2\r\n"), (Fields{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(fields_of("a\n\n2"), (Fields{{"a"}, {""}, {"2"}}));
  EXPECT_EQ(fields_of("a,"), (Fields{{"a", ""}}));
  EXPECT_EQ(fields_of("\xEF\xBB\xBF"
                      "a,b\n"),
            (Fields{{"a", "b"}}))
      << "a byte order mark is no text";
  EXPECT_EQ(fields_of("a\rb\r"), (Fields{{"a\rb"}})) << "only the end of a line loses its \\r";
}

TEST(Csv, SplitsAtTheGivenSeparatorAlone) {
  const auto fields = [](char separator, std::string_view text) {
    Fields all;
    CsvReader reader("t", text, separator);
    for (CsvRow row; reader.next(row);) all.push_back(row.fields);
    return all;
  };
  EXPECT_EQ(fields(';', "a;\"b;c\"\n1,5;2\n3"), (Fields{{"a", "b;c"}, {"1,5", "2"}, {"3"}}));
  EXPECT_EQ(fields('\t', "a\t\tb, c\r\n"), (Fields{{"a", "", "b, c"}}));
}

TEST(Csv, KeepsCommasQuotesAndLineEndsOfQuotedFields) {
  EXPECT_EQ(fields_of("\"a,b\",\"c\"\"d\"\r\n"), (Fields{{"a,b", "c\"d"}}));
  EXPECT_EQ(fields_of("\"a\r\nb\",\"\"\n\"\"\"\"\n"), (Fields{{"a\r\nb", ""}, {"\""}}));
  EXPECT_EQ(fields_of("5\" pipe,x\n"), (Fields{{"5\" pipe", "x"}})) << "not at the beginning";
}

TEST(Csv, ReadsBackTheFieldsThatItWrites) {
  EXPECT_EQ(csv_field("two words"), "two words") << "no quotes where none are needed";
  for (const std::string text : {"", "a,b", "\"", "5\" pipe", "a\nb", "a\r", "\"a\",\r\n"})
    EXPECT_EQ(fields_of(csv_field(text) + ",x\r\n"), (Fields{{text, "x"}})) << text;
}

TEST(Csv, ReportsLineAndTextOfEachRow) {
  const std::string text = "h,i\r\n\"a\nb\",\"c\"\r\nd,e";
  const std::vector<CsvRow> rows = read_csv_text("t", text);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].text, "h,i");
  EXPECT_EQ(rows[1].text, "\"a\nb\",\"c\"");
  EXPECT_EQ(rows[2].text, "d,e");
  EXPECT_EQ(rows[1].line, 2U);
  EXPECT_EQ(rows[2].line, 4U);
}

TEST(Csv, RefusesQuoteThatIsNotClosed) {
  for (const std::string text : {"a\n\"b,c\nd\n", "a\n\"b\"\"", "a\n\""}) {
    try {
      read_csv_text("t", text);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), "t, line 2: a quoted field does not end");
    }
  }
}

}  // namespace
}  // namespace dpsosp::csv_test
