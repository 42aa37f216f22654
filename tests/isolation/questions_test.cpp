// SPDX-License-Identifier: Apache-2.0
// docs/protocol.md and the page of the site are the wire's own description.
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/core/files.hpp"
#include "dpsosp/isolation/guest_process.hpp"
#include "dpsosp/wire/questions.hpp"
#include "paths.hpp"

namespace dpsosp::questions_test {
namespace {

TEST(Questions, AreThoseThatTheHostAnswers) {
  std::set<std::string_view> described, answered;
  for (const wire::QuestionText& q : wire::all_questions()) described.insert(q.name);
  for (const std::string_view name : answered_questions())
    if (!name.starts_with("drop_")) answered.insert(name);
  described.erase("noise");  // before the run
  EXPECT_EQ(described, answered);
}

TEST(Questions, HaveAMeaningForEveryMember) {
  for (const wire::QuestionText& q : wire::all_questions()) {
    EXPECT_FALSE(q.meaning.empty()) << q.name;
    for (const wire::PartText& part : q.parts) EXPECT_FALSE(part.kind.empty()) << q.name;
  }
}

TEST(Questions, AreInTheCommittedTable) {
  EXPECT_EQ(read_file(in_checkout("docs/protocol.md")), wire::protocol_table())
      << "dpsosp list protocol --document docs writes it";
}

TEST(Questions, AreOnThePageWithTheirParts) {
  const std::string page = wire::protocol_page();
  for (const wire::QuestionText& q : wire::all_questions()) {
    const auto at = page.find("\n### " + std::string(q.name) + "\n");
    ASSERT_NE(at, std::string::npos) << q.name;
    const std::string section = page.substr(at, page.find("\n### ", at + 1) - at);
    for (const wire::PartText& part : q.parts)
      EXPECT_NE(section.find("| " + part.name + " | " + part.kind + " |"), std::string::npos)
          << q.name << ' ' << part.name;
  }
}

TEST(Questions, EachGoThroughThePythonPackage) {
  const std::string package = read_file(in_checkout("python/dpsosp/author.py"));
  for (const wire::QuestionText& q : wire::all_questions()) {
    const std::string name(q.name);
    const bool named = package.find('"' + name + '"') != std::string::npos;
    const bool of_a_session =
        std::ranges::any_of(std::initializer_list<std::string_view>{"stationarity", "line_search",
                                                                    "exponential", "gibbs"},
                            [&](std::string_view session) { return name.starts_with(session); });
    EXPECT_TRUE(named || of_a_session) << name;
  }
}

}  // namespace
}  // namespace dpsosp::questions_test
