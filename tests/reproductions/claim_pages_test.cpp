// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/core/errors.hpp"
#include "findings.hpp"

// Kinds of evidence, arguments.toml, and the page of a claim.
namespace dpsosp::claim_pages_test {
namespace {

constexpr const char* two_claims = R"(
[[claim]]
id = "p/one"
place = "Theorem 1"
says = "One says"
kind = "predicate"
holds_if = "one holds"

[[claim]]
id = "p/two"
place = "Theorem 2"
says = "Two says"
kind = "unreachable"
why = "two is large"
needs = "n = 1e30"
evidence = "derivation"
)";

std::string argument(const std::string& more) {
  return "[[argument]]\nid = \"p/one\"\nobjection = \"they object\"\nanswer = \"we answer\"\n" +
         more;
}

std::vector<Claim> argued(const std::string& toml) {
  std::vector<Claim> claims = parse_claims(two_claims, "claims.toml");
  add_arguments(toml, "arguments.toml", claims);
  return claims;
}

std::string refusal(const std::string& toml) {
  try {
    argued(toml);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Arguments, BelongToTheirClaim) {
  const std::vector<Claim> claims = argued(argument("upheld = true\nchanged = \"words\""));
  ASSERT_TRUE(claims[0].argument.has_value());
  EXPECT_EQ(claims[0].argument->objection, "they object");
  EXPECT_TRUE(claims[0].argument->upheld);
  EXPECT_EQ(claims[0].argument->changed, "words");
  EXPECT_FALSE(claims[1].argument.has_value());
  EXPECT_EQ(claims[0].evidence, EvidenceKind::measurement);
  EXPECT_EQ(claims[1].evidence, EvidenceKind::derivation);
}

TEST(Arguments, RejectUnknownClaimsAndKeys) {
  EXPECT_NE(refusal(argument("")).find("arguments.toml:1: upheld is missing"), std::string::npos)
      << refusal(argument(""));
  EXPECT_NE(refusal("[[argument]]\nid = \"p/three\"\n")
                .find("arguments.toml:2: id = 'p/three', expected the id of a claim of this paper"),
            std::string::npos)
      << refusal("[[argument]]\nid = \"p/three\"\n");
  EXPECT_NE(refusal(argument("upheld = true\n") + argument("upheld = true\n"))
                .find("two arguments for p/one"),
            std::string::npos);
  EXPECT_NE(refusal(argument("upheld = true\nreply = \"x\"\n")).find("reply"), std::string::npos);
}

TEST(ClaimPages, ShowEachClaimWithTheOtherSide) {
  const ClaimSet set{.claims = argued(argument("upheld = false\nopen = \"more runs\"")),
                     .predicates = {}};
  const std::vector<Finding> findings{
      {.verdict = Verdict::fails,
       .measured = "3 of 4",
       .reason = "one is above",
       .rests_on = "4 runs"},
      {.verdict = Verdict::not_reachable, .measured = "needs n = 1e30", .reason = "two is large"}};
  const std::vector<plots::Page> pages = claim_pages(set, findings, study_at(Scale::quick));
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages[0].id, "p-one");
  EXPECT_EQ(pages[0].verdict.text, "fails");
  const auto section = [&](std::size_t page, std::string_view heading) {
    const auto& sections = pages[page].sections;
    const auto found = std::ranges::find(sections, heading, &plots::Page::Section::heading);
    return found == sections.end() ? std::vector<std::string>{} : found->paragraphs;
  };
  EXPECT_EQ(
      section(0, "The other side"),
      (std::vector<std::string>{
          "The authors might say: they object", "Answer: we answer", "Still open: more runs"}));
  EXPECT_TRUE(section(1, "The other side").empty());
  EXPECT_EQ(section(1, "What would change the verdict"),
            std::vector<std::string>{"A test would take n = 1e30."});
  const auto result = section(0, "Result");
  EXPECT_EQ(result.front(), "3 of 4");
  EXPECT_NE(std::ranges::find(result, "Rests on: 4 runs"), result.end());
}

TEST(ClaimsSummary, CountsByPaperAndByKindOfEvidence) {
  const ClaimSet set{.claims = parse_claims(two_claims, "claims.toml"), .predicates = {}};
  const std::vector<Finding> findings{{.verdict = Verdict::holds},
                                      {.verdict = Verdict::not_reachable}};
  const plots::Table t = claims_summary_table(set, findings);
  const auto total = [&](std::size_t group, std::size_t row) {
    return std::get<std::string>(t.row_groups.at(group).rows.at(row).cells.back().content);
  };
  EXPECT_EQ(total(0, 0), "2");  // p
  EXPECT_EQ(total(1, 0), "1");  // measurement
  EXPECT_EQ(total(1, 1), "1");  // derivation
  EXPECT_EQ(total(1, 2), "0");  // privacy
  EXPECT_EQ(total(2, 0), "2");  // all
}

// Every claim that formulas decide is tagged as derivation or privacy, and no other claim is tagged
// as derivation without reason.
TEST(Evidence, OfFormulasIsNoMeasurement) {
  const ClaimSet& all = reproductions().claims;
  for (const Predicate& p : all.predicates) {
    const auto claim = std::ranges::find(all.claims, p.claim, &Claim::id);
    ASSERT_NE(claim, all.claims.end());
    if (!jobs_of(p, study_at(Scale::quick)).empty()) continue;
    EXPECT_NE(claim->evidence, EvidenceKind::measurement) << p.claim;
  }
}

TEST(VacuousBelow, FindsLeastSizeAndRejectsNone) {
  const Finding f = vacuous_below([](double n) { return n > 2e9; }, "bound > 1", "d = 3", "why");
  EXPECT_EQ(f.verdict, Verdict::vacuous);
  EXPECT_EQ(f.measured, "bound > 1 for every n below 2.0e+09 (d = 3)");
  EXPECT_NEAR(*f.value / 2e9, 1, 2e-3);
  EXPECT_THROW(vacuous_below([](double) { return false; }, "bound > 1", "d = 3", "why"),
               InputError);
}

}  // namespace
}  // namespace dpsosp::claim_pages_test
