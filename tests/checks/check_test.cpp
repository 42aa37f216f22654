// SPDX-License-Identifier: Apache-2.0
// Every problem passes its check, and every line of the check can fail.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "../core/scratch_folder.hpp"
#include "dpsosp/checks/check.hpp"
#include "dpsosp/problems/altered_records.hpp"
#include "dpsosp/problems/cosine_saddle.hpp"
#include "dpsosp/problems/double_well.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::check_test {
namespace {

std::string failures(const ProblemCheck& check) {
  std::string text;
  for (const CheckLine& line : check.lines)
    if (!line.passed) text += line.property + ": " + line.detail + '\n';
  return text;
}

class EveryProblem : public testing::TestWithParam<std::string> {};

TEST_P(EveryProblem, PassesItsCheck) {
  const ProblemCheck check = check_problem(GetParam(), {}, {});
  if (!check.skipped.empty()) GTEST_SKIP() << check.skipped;
  EXPECT_TRUE(check.passed()) << failures(check);
}

std::vector<std::string> all_problems() {
  std::vector<std::string> names;
  for (const auto& e : problem_registry()) names.push_back(e.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryProblem, testing::ValuesIn(all_problems()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(ProblemVariants, GroupDroOnSimplexPassesItsCheck) {
  for (const char* mu : {"0.3", "4"}) {
    const ProblemCheck check =
        check_problem("group-dro", {{"dual", "simplex"}, {"strong_concavity", mu}}, {});
    EXPECT_TRUE(check.passed()) << failures(check);
  }
}

/// A run takes such a table; a check says it.
TEST(OwnTables, ColumnOfOneValueFailsTheCheckAlone) {
  const ScratchFolder folder;
  std::string table = "a,b,y\n";
  for (int i = 0; i < 24; ++i)
    table += std::to_string(0.04 * i - 0.5) + ",0.25," + std::to_string(i % 2) + "\n";
  const auto file = folder.write("t.csv", table);
  const ProblemCheck check = check_problem("own-glm", {{"data", file.string()}}, {});
  EXPECT_EQ(failures(check), "every column of the table varies: constant: b\n");
}

TEST(LargeProblems, MatchPopulationAtMillionRecords) {
  const std::map<std::string, std::map<std::string, std::string>> small{
      {"matrix-sensing", {{"rows", "4"}, {"cols", "3"}, {"rank", "2"}}},
      {"matrix-completion", {{"rows", "4"}, {"cols", "3"}, {"rank", "2"}}},
      {"trig-radial", {}}};
  for (const auto& [name, settings] : small) {
    CheckOptions options;
    if (name == "trig-radial") options.dimension = 10;
    const ProblemCheck check = check_problem(name, settings, options);
    EXPECT_TRUE(check.passed()) << name << '\n' << failures(check);
    EXPECT_TRUE(std::ranges::any_of(check.lines, [](const CheckLine& line) {
      return line.property == "the population gradient is the mean over 1000000 records";
    })) << name;
  }
}

/// A sound family into whose instances a bug is planted.
class Planted final : public ProblemFamily {
 public:
  using Bug = std::function<void(Problem&, const InstanceSpec&)>;
  Planted(std::unique_ptr<ProblemFamily> sound, Bug bug)
      : sound_(std::move(sound)), bug_(std::move(bug)) {}
  std::string_view name() const override { return sound_->name(); }
  std::string_view summary() const override { return sound_->summary(); }
  ProblemNotes notes() const override { return sound_->notes(); }
  Index default_records() const override { return sound_->default_records(); }
  Fields fields() override { return sound_->fields(); }

 protected:
  Index dimension(const InstanceSpec& spec) const override {
    settled_ = sound_->facts(spec);
    return settled_.dimension;
  }
  void settle(const Stream&, PublicFacts& facts) const override { facts = settled_; }
  Constants constants(const PublicFacts& facts) const override { return facts.constants; }
  void draw(const InstanceSpec& spec, Problem& p) const override {
    p = sound_->make(spec);
    bug_(p, spec);
  }

 private:
  std::unique_ptr<ProblemFamily> sound_;
  Bug bug_;
  mutable PublicFacts settled_;
};

template <class Family>
ProblemCheck check_with(const Planted::Bug& bug) {
  return check_problem(
      [&bug]() -> std::unique_ptr<ProblemFamily> {
        return std::make_unique<Planted>(std::make_unique<Family>(), bug);
      },
      {.average_records = 20000});
}

/// The properties that fail, by their first words.
bool fails_at(const ProblemCheck& check, std::string_view start) {
  return std::ranges::any_of(check.lines, [&](const CheckLine& line) {
    return !line.passed && line.property.starts_with(start);
  });
}

TEST(ProblemCheck, PassesWithoutPlantedBug) {
  const ProblemCheck check = check_with<DoubleWell>([](Problem&, const InstanceSpec&) {});
  EXPECT_TRUE(check.passed()) << failures(check);
}

/// F with one of its parts bent.
class Bent final : public Objective {
 public:
  Bent(std::unique_ptr<const Objective> F, double gradient, double hessian)
      : F_(std::move(F)), gradient_(gradient), hessian_(hessian) {}
  Index dimension() const override { return F_->dimension(); }
  double value(ConstVectorRef x) const override { return F_->value(x); }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    F_->gradient(x, out);
    out[0] *= gradient_;
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    F_->hessian_product(x, v, out);
    out[0] *= hessian_;
  }

 private:
  std::unique_ptr<const Objective> F_;
  double gradient_, hessian_;
};

TEST(ProblemCheck, DetectsGradientErrorOfOnePerMille) {
  const ProblemCheck check = check_with<DoubleWell>([](Problem& p, const InstanceSpec&) {
    p.population = std::make_unique<Bent>(std::move(p.population), 1.001, 1.0);
  });
  EXPECT_TRUE(fails_at(check, "gradients meet"));
}

TEST(ProblemCheck, DetectsHessianErrorOfOnePerMille) {
  const ProblemCheck check = check_with<DoubleWell>([](Problem& p, const InstanceSpec&) {
    p.empirical = std::make_unique<Bent>(std::move(p.empirical), 1.0, 1.001);
  });
  EXPECT_TRUE(fails_at(check, "Hessian products meet"));
}

/// Of sums over the records.
enum class Bug { none, scaled_difference, shifted, scaled_loss, scaled_hessian, small_bound };
ProblemCheck check_records(Bug bug) {
  const AlteredRecords::Add bent = [bug](const AnyRecords& of, const Summand& s,
                                         const BatchView& batch, double limit, VectorRef out) {
    Vector sum = Vector::Zero(out.size());
    ClipReport report = of.add(s, batch, limit, sum);
    const bool difference = s.kind == Summand::Kind::gradient && s.previous;
    const bool gradient = s.kind == Summand::Kind::gradient && !s.previous;
    const bool product = s.kind == Summand::Kind::hessian_product && !s.previous;
    if (bug == Bug::shifted && gradient) sum[0] += 0.05 * static_cast<double>(batch.size());
    if ((bug == Bug::scaled_difference && difference) || (bug == Bug::scaled_hessian && product) ||
        (bug == Bug::scaled_loss && s.kind == Summand::Kind::loss))
      sum *= 1.001;
    if (bug == Bug::small_bound && product) report.largest_norm *= 0.95;
    out += sum;
    return report;
  };
  return check_with<CosineSaddle>([&bent](Problem& p, const InstanceSpec&) {
    if (!p.records) return;
    const Index n = p.records->size();
    p.records = std::make_unique<AlteredRecords>(std::move(p.records), n, bent);
  });
}

TEST(ProblemCheck, DetectsScaledGradientDifference) {
  EXPECT_TRUE(fails_at(check_records(Bug::scaled_difference), "gradient differences"));
}
TEST(ProblemCheck, DetectsSumsOutsideTrusted) {
  EXPECT_TRUE(fails_at(check_records(Bug::none), "every sum over the records"));
}
TEST(ProblemCheck, DetectsShiftedRecordsTwice) {
  const ProblemCheck check = check_records(Bug::shifted);
  EXPECT_TRUE(fails_at(check, "the records average"));
  EXPECT_TRUE(fails_at(check, "the population gradient"));
}

TEST(ProblemCheck, DetectsLossInconsistentWithGradient) {
  EXPECT_TRUE(fails_at(check_records(Bug::scaled_loss), "loss differences"));
}
TEST(ProblemCheck, DetectsRecordHessianInconsistentWithGradient) {
  EXPECT_TRUE(fails_at(check_records(Bug::scaled_hessian), "records' Hessian"));
}
TEST(ProblemCheck, DetectsBoundBelowOperatorNorm) {
  EXPECT_TRUE(fails_at(check_records(Bug::small_bound), "records' Hessian"));
}

void shrink(Problem& p, std::string_view name, double factor) {
  Constant c = p.facts.constants.at(name);
  c.value *= factor;
  p.facts.constants.set(name, c);
}

TEST(ProblemCheck, RefutesTightConstantsFivePercentTooSmall) {
  for (const std::string_view name :
       {constant::lipschitz, constant::smoothness, constant::hessian_lipschitz})
    for (const bool cosine : {false, true}) {
      const auto bug = [name](Problem& p, const InstanceSpec&) { shrink(p, name, 0.95); };
      const ProblemCheck check =
          cosine ? check_with<CosineSaddle>(bug) : check_with<DoubleWell>(bug);
      EXPECT_TRUE(fails_at(check, name)) << name << ' ' << cosine;
    }
}

TEST(ProblemCheck, RefutesUnreachedShare) {
  const ProblemCheck check = check_with<CosineSaddle>([](Problem& p, const InstanceSpec&) {
    shrink(p, constant::smoothness, 1.2);  // still a bound, no longer a tight one
  });
  EXPECT_TRUE(fails_at(check, constant::smoothness));
}

TEST(ProblemCheck, DetectsFactsThatDependOnRecords) {
  EXPECT_TRUE(fails_at(check_with<DoubleWell>([](Problem& p, const InstanceSpec& spec) {
                         p.facts.initial_point[0] += 1e-9 * static_cast<double>(spec.data_seed);
                       }),
                       "public facts"));
  EXPECT_TRUE(fails_at(check_with<DoubleWell>([](Problem& p, const InstanceSpec& spec) {
                         if (spec.data_seed > 50) shrink(p, constant::lipschitz, 1.01);
                       }),
                       "public facts"));
  // the same for every data set that the check draws, but set when records are drawn
  EXPECT_TRUE(fails_at(
      check_with<DoubleWell>([](Problem& p, const InstanceSpec&) { p.facts.feature_bound = 1; }),
      "public facts"));
}

TEST(ProblemCheck, DetectsFalseLandmarks) {
  for (int kind = 0; kind < 3; ++kind)
    EXPECT_TRUE(fails_at(check_with<DoubleWell>([kind](Problem& p, const InstanceSpec&) {
                           Landmark& well = p.landmarks[0];
                           Landmark& saddle = p.landmarks[1];
                           if (kind == 0) well.point[0] += 1e-3;  // not stationary
                           if (kind == 1) saddle.kind = Landmark::Kind::minimiser;  // not a minimum
                           if (kind == 2) std::swap(saddle.point, well.point);
                         }),
                         "landmarks"))
        << kind;
}

TEST(ProblemCheck, DetectsMissingProof) {
  EXPECT_TRUE(fails_at(check_with<DoubleWell>([](Problem& p, const InstanceSpec&) {
                         Constant c = p.facts.constants.at(constant::smoothness);
                         c.proof.clear();
                         p.facts.constants.set(constant::smoothness, c);
                       }),
                       "facts are complete"));
}

}  // namespace
}  // namespace dpsosp::check_test
