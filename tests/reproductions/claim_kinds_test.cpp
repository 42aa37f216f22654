// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/core/errors.hpp"
#include "findings.hpp"

// Kinds of evidence, arguments.toml, and headlines of claims.
namespace dpsosp::claim_kinds_test {
namespace {

constexpr const char* two_claims = R"(
[[claim]]
id = "p/one"
place = "Theorem 1"
printed = 'One, as $\frac{\sqrt{d}}{n}\leq\alpha_{t+1}^{1/2}$ printed'
hypotheses = "x is small"
reading = "One says"
kind = "predicate"
holds_if = "one holds"

[[claim]]
id = "p/two"
place = "Theorem 2"
of = "suite"
reading = "Two says"
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
  EXPECT_NE(refusal(argument("upheld = false\n") + argument("upheld = false\n"))
                .find("two arguments for p/one"),
            std::string::npos);
  EXPECT_NE(refusal(argument("upheld = true\nreply = \"x\"\n")).find("reply"), std::string::npos);
}

TEST(Arguments, ThatAreUpheldSayWhatTheyChanged) {
  EXPECT_NE(refusal(argument("upheld = true\n"))
                .find("changed is missing: what the upheld objection has changed in p/one"),
            std::string::npos)
      << refusal(argument("upheld = true\n"));
  EXPECT_EQ(refusal(argument("upheld = false\n")), "");
}

TEST(ClaimsSummary, CountsThePapersOwnWordsApart) {
  const ClaimSet set{.claims = parse_claims(two_claims, "claims.toml"), .predicates = {}};
  const std::vector<Finding> findings{{.verdict = Verdict::holds, .headline = Headline::confirmed},
                                      {.verdict = Verdict::not_reachable}};
  const plots::Table t = claims_summary_table(set, findings);
  const auto total = [&](std::size_t group, std::size_t row) {
    return std::get<std::string>(t.row_groups.at(group).rows.at(row).cells.back().content);
  };
  EXPECT_EQ(total(0, 0), "1");  // p
  EXPECT_EQ(total(0, 1), "1");  // all papers
  EXPECT_EQ(total(1, 0), "1");  // measurement
  EXPECT_EQ(total(1, 1), "0");  // derivation, of the paper's words
  EXPECT_EQ(total(2, 0), "1");  // of this suite
}

TEST(ClaimHeadline, OfAPredicate) {
  Claim c;
  EXPECT_EQ(headline_of(c, Verdict::holds), Headline::confirmed);
  EXPECT_EQ(headline_of(c, Verdict::fails), Headline::refuted);
  c.if_fails = Headline::slip;
  EXPECT_EQ(headline_of(c, Verdict::fails), Headline::slip);
  EXPECT_EQ(headline_of(c, Verdict::bound_met), Headline::bound_met);
  EXPECT_EQ(headline_of(c, Verdict::vacuous), Headline::vacuous);
  for (const Verdict v : {Verdict::inconclusive, Verdict::not_reachable, Verdict::not_measured})
    EXPECT_EQ(headline_of(c, v), Headline::open);
}

TEST(ClaimHeadline, OfASlipSaysWhatStands) {
  const std::string slip =
      "[[claim]]\nid = \"p/a\"\nplace = \"x\"\nof = \"suite\"\nreading = \"y\"\nkind = "
      "\"predicate\"\nholds_if = \"z\"\nif_fails = ";
  const auto refused = [&](const std::string& more) -> std::string {
    try {
      parse_claims(slip + more, "claims.toml");
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refused("\"slip\"\n").find("stands is missing"), std::string::npos);
  EXPECT_EQ(refused("\"slip\"\nstands = \"the rate\"\n"), "");
  EXPECT_NE(refused("\"open\"\n").find("expected \"refuted\" or \"slip\""), std::string::npos)
      << refused("\"open\"\n");
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
}  // namespace dpsosp::claim_kinds_test
