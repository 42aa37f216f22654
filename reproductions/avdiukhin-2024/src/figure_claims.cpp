// SPDX-License-Identifier: Apache-2.0
#include "figure_claims.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "figure_statistics.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace avdiukhin_2024_figures {
namespace {

constexpr double fall_allowed = 0.02;       // from one ε to the next
constexpr double rise_required = 0.02;      // from ε = 1/8 to 8
constexpr double close_to_no_noise = 0.03;  // at ε = 4 and 8
constexpr std::size_t published_seeds = 10;

/// A condition on curves: the numbers, and where it is broken.
struct Condition {
  std::vector<std::string> measured;
  std::vector<std::string> broken;
};

double mean_final(const Curve& curve, EpochMetric metric) {
  return mean(final_values(curve, metric));
}

/// "1/8: 0.254, …, no noise: 0.491".
std::string final_text(const std::vector<Curve>& curves, EpochMetric metric) {
  std::vector<std::string> words;
  for (const Curve& c : curves)
    words.push_back(fmt::format("{}: {:.3f}", epsilon_text(c.epsilon), mean_final(c, metric)));
  return fmt::format("{}", fmt::join(words, ", "));
}

void check_order(const std::vector<Curve>& curves, EpochMetric metric, Condition& condition) {
  const Curve* before = nullptr;
  for (const Curve& c : curves) {
    if (!c.epsilon) continue;
    if (before != nullptr) {
      const double fall = mean_final(*before, metric) - mean_final(c, metric);
      if (!(fall <= fall_allowed))
        condition.broken.push_back(fmt::format("it falls by {:.3f} from eps = {} to {}", fall,
                                               epsilon_text(before->epsilon),
                                               epsilon_text(c.epsilon)));
    }
    before = &c;
  }
}

void check_rise_and_closeness(const std::vector<Curve>& curves, EpochMetric metric,
                              Condition& condition) {
  const auto at = [&](std::optional<double> epsilon) {
    return mean_final(*curve_at(curves, epsilon), metric);
  };
  const double rise = at(8.0) - at(0.125);
  if (!(rise > rise_required))
    condition.broken.push_back(
        fmt::format("it rises by no more than {:.3f} from eps = 1/8 to 8", rise));
  for (const double epsilon : {4.0, 8.0}) {
    const double short_of = at(std::nullopt) - at(epsilon);
    if (!(short_of <= close_to_no_noise))
      condition.broken.push_back(
          fmt::format("eps = {} is {:.3f} below no noise", epsilon_text(epsilon), short_of));
  }
}

/// Longest norm of a record, over runs, epochs, batches and the audited records; of a norm that is
/// not a number infinity. 0 of no run.
double longest_norm(const std::vector<Curve>& curves) {
  double longest = 0;
  for (const Curve& c : curves)
    for (const CurveRun* run : c.runs)
      for (const TrainedEpoch& epoch : run->result.epochs)
        for (const double norm : {epoch.largest_norm.value_or(0), epoch.audit_norm})
          longest =
              std::max(longest, std::isnan(norm) ? std::numeric_limits<double>::infinity() : norm);
  return longest;
}

void check_norms(const FigureData& data, Condition& condition) {
  const double longest = longest_norm(curves_of(data.runs, "1a", published));
  std::string measured = fmt::format("longest contribution of a record {:.3g}", longest);
  if (const auto curves = curves_of(data.runs, "3a", own_gradients); !curves.empty())
    measured += fmt::format(", gradient with group normalisation {:.3g}", longest_norm(curves));
  if (const auto curves = curves_of(data.runs, "3a", start); !curves.empty())
    measured += fmt::format(", contribution before any step at widths over {} {:.3g}",
                            curves.front().runs.front()->training.width, longest_norm(curves));
  condition.measured.push_back(std::move(measured));
  if (longest > published_bound)
    condition.broken.push_back(
        fmt::format("a record has {:.3g}, more than C = {}", longest, published_bound));
}

void check_below(const std::vector<Curve>& curves, const std::vector<Curve>& with_smaller_bound,
                 EpochMetric metric, Condition& condition) {
  for (const Curve& c : curves) {
    const double lower = mean_final(c, metric),
                 upper = mean_final(*curve_at(with_smaller_bound, c.epsilon), metric);
    if (!(lower < upper))
      condition.broken.push_back(fmt::format("at eps = {} it is {:.3f}, not below {:.3f}",
                                             epsilon_text(c.epsilon), lower, upper));
  }
}

/// Why the curves do not allow the condition to be looked at; empty if they do.
std::string unusable(const FigureData& data, std::string_view figure,
                     const std::vector<Curve>& curves, bool with_no_noise) {
  for (const CurveRun& run : data.runs)
    if (run.figure == figure && run.variant == published && !run.failure.empty())
      return fmt::format("a run at eps = {} failed: {}", epsilon_text(run.training.epsilon),
                         run.failure);
  std::vector<std::string> missing;
  for (const double epsilon : published_epsilons)
    if (curve_at(curves, epsilon) == nullptr) missing.push_back(epsilon_text(epsilon));
  if (with_no_noise && curve_at(curves, std::nullopt) == nullptr)
    missing.push_back(epsilon_text(std::nullopt));
  return missing.empty() ? ""
                         : fmt::format("no runs at eps = {}: scale quick or full has them",
                                       fmt::join(missing, ", "));
}

/// Whether runs differ in C and ε alone.
bool same_size(const CurveRun& a, const CurveRun& b) {
  Training training = a.training;
  training.clip = b.training.clip;
  training.epsilon = b.training.epsilon;
  return training == b.training;
}

Finding open_finding(std::string reason, std::string measured = "") {
  return {.verdict = Verdict::inconclusive,
          .measured = std::move(measured),
          .reason = std::move(reason)};
}

/// What the condition comes to on these curves.
Finding weighed(const Condition& condition, const std::vector<Curve>& curves) {
  const std::string numbers = fmt::format("{}", fmt::join(condition.measured, "; ")),
                    broken = fmt::format("{}", fmt::join(condition.broken, "; "));
  const CurveRun& first = *curves.front().runs.front();
  const bool of_published_size = std::ranges::all_of(curves, [](const Curve& c) {
    return c.runs.size() >= published_seeds &&
           std::ranges::all_of(c.runs, [](const CurveRun* run) { return is_published_size(*run); });
  });
  if (of_published_size) return finding(condition.broken.empty(), numbers, broken);
  return open_finding(
      fmt::format(
          "the runs are smaller than the paper's (widths over {}, n = {}, {} seeds); on them "
          "the condition {}",
          first.training.width, first.training.records, curves.front().runs.size(),
          condition.broken.empty() ? "holds" : fmt::format("is broken: {}", broken)),
      numbers);
}

Finding judge_runs(std::string_view figure, const FigureData& data) {
  const std::string_view shown = figure == "3a" ? "1a" : figure;
  const std::vector<Curve> curves = curves_of(data.runs, shown, published);
  const bool compares_no_noise = figure == "1a" || figure == "1b" || figure == "3a";
  if (std::string reason = unusable(data, shown, curves, compares_no_noise); !reason.empty())
    return open_finding(std::move(reason));
  const EpochMetric metric =
      figure == "3a" ? &TrainedEpoch::train_accuracy : &TrainedEpoch::test_accuracy;
  Condition condition{
      .measured = {fmt::format("{} accuracy {}", figure == "3a" ? "training" : "test",
                               final_text(curves, metric))},
      .broken = {}};
  if (figure == "3a") check_norms(data, condition);
  if (figure == "3b") {
    const std::vector<Curve> others = curves_of(data.runs, "1a", published);
    if (std::string reason = unusable(data, "1a", others, false); !reason.empty())
      return open_finding("Figure 1a: " + reason);
    if (!same_size(*curves.front().runs.front(), *others.front().runs.front()))
      return open_finding("the runs of Figures 1a and 3b are of different sizes");
    check_below(curves, others, metric, condition);
    condition.measured.push_back(fmt::format("Figure 1a {}", final_text(others, metric)));
  }
  check_order(curves, metric, condition);
  if (compares_no_noise) check_rise_and_closeness(curves, metric, condition);
  return weighed(condition, curves);
}

Predicate figure_predicate(const char* figure) {
  const std::string id = fmt::format("avdiukhin-2024/figure-{}", figure);
  return {.claim = id,
          .cells = [figure](const Study& study) -> std::vector<JobCell> {
            return {{.at = {}, .jobs = figure_jobs(figure, study)}};
          },
          .judge =
              [figure](const Evidence& e) {
                return judge_figure(
                    figure, figure_data(figure, e.runs, e.study, avdiukhin_2024_texts().curves));
              },
          .exhibit = id};
}

}  // namespace

std::string epsilon_text(std::optional<double> epsilon) {
  if (!epsilon) return "no noise";
  return *epsilon < 1 ? fmt::format("1/{:g}", 1 / *epsilon) : fmt::format("{:g}", *epsilon);
}

bool is_published_size(const CurveRun& run) {
  const Index records = run.training.data == "cola" ? 8551 : 50000;
  return run.training.width == 1 && run.training.records == records;
}

Finding judge_figure(std::string_view figure, const FigureData& data) {
  if (data.runs.empty())
    return {
        .verdict = Verdict::not_measured, .reason = nothing_to_show(figure), .rests_on = "no run"};
  Finding f = judge_runs(figure, data);
  if (data.before) f.rests_on = fmt::format("{} runs computed before", data.runs.size());
  return f;
}

}  // namespace avdiukhin_2024_figures

std::vector<Predicate> avdiukhin_2024_figure_predicates() {
  using avdiukhin_2024_figures::figure_predicate;
  return {figure_predicate("1a"), figure_predicate("1b"), figure_predicate("2a"),
          figure_predicate("2b"), figure_predicate("3a"), figure_predicate("3b")};
}

}  // namespace dpsosp
