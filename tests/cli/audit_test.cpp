// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"

// dpsosp audit: what it prints, and what its exit code says.
namespace dpsosp::audit_test {
namespace {

Result audit(const std::string& arguments) {
  return run_program(built_program("dpsosp"), words(std::string("audit ").append(arguments)));
}

const std::string dp_gd = "--algorithm wang-ye-xu-2017/dp-gd --scale smoke ";

TEST(AuditCommand, PrintsClaimedAccountedAndAuditedEpsilonInOneRow) {
  const Result r = audit(dp_gd + "--runs 500");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "");
  EXPECT_NE(r.out.find("claimed accounted  audited"), std::string::npos);
  EXPECT_NE(r.out.find("stands"), std::string::npos);
  EXPECT_NE(r.out.find("confidence 0.999"), std::string::npos);
}

TEST(AuditCommand, PrintsSameBytesForAnyThreadCount) {
  const std::string arguments = dp_gd + "--runs 100 --json --threads ";
  const Result one = audit(arguments + "1"), three = audit(arguments + "3");
  EXPECT_EQ(one.out, three.out);
  const auto parsed = nlohmann::json::parse(one.out);
  EXPECT_EQ(parsed.at("statistics").at("claimed"), 8);
  EXPECT_TRUE(parsed.at("replay").at("passed").get<bool>());
}

TEST(AuditCommand, CatchesPlantedBugOrFails) {
  const Result caught = audit(dp_gd + "--plant noise-over-sqrt2 --runs 100");
  EXPECT_EQ(caught.code, 0);
  EXPECT_NE(caught.out.find("planted bug caught"), std::string::npos);
  const Result missed = audit(dp_gd + "--plant tree-noise-reused --runs 100");  // it has no tree
  EXPECT_EQ(missed.code, 1);
  EXPECT_NE(missed.out.find("planted bug missed"), std::string::npos);
}

TEST(AuditCommand, TakesSettingsOfTheProblem) {
  const std::string formula =
      "--algorithm abadi-2016/dp-sgd --problem own-glm --set problem.data=" +
      in_checkout("examples/data/visits.csv") + " --set problem.loss=sigmoid(-3*t*(2*y-1))";
  const Result r = audit(formula);
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("abadi-2016/dp-sgd on own-glm: replay passed"), std::string::npos) << r.out;
  const Result caught = audit(formula + " --plant noise-over-sqrt2");
  EXPECT_EQ(caught.code, 0) << caught.out;
}

TEST(AuditCommand, RejectsBadArgumentsInOneLine) {
  const auto refused = [](const std::string& arguments, const std::string& part) {
    expect_one_error_line(audit(arguments), 2, part);
  };
  refused("", "expected --algorithm KEY");
  refused("--all --algorithm abadi-2016/dp-sgd", "expected --algorithm KEY");
  refused("--all --runs 10", "--runs needs --algorithm");
  refused("--all --plant half-range", "--plant needs --algorithm");
  refused("--algorithm abadi-2016/dp-sgd --set data=x.csv", "--set is of the problem");
  refused("--algorithm abadi-2016/dp-sgd --problem own-glm --set datum=x.csv",
          "did you mean 'data'");
  refused("--algorithm abadi-2016/dpsgd", "did you mean 'abadi-2016/dp-sgd'");
  refused("--algorithm reference/sgd", "claims no privacy");
  refused(dp_gd + "--plant half-rang", "did you mean 'half-range'");
  refused(dp_gd + "--runs 7", "runs");
  refused("--algorithm wang-ye-xu-2017/dp-gd --scale huge", "huge");
}

}  // namespace
}  // namespace dpsosp::audit_test
