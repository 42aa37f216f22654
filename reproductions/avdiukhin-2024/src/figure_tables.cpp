// SPDX-License-Identifier: Apache-2.0
#include "figure_tables.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/judging.hpp"
#include "figure_claims.hpp"

namespace dpsosp::avdiukhin_2024_figures {
namespace {

using plots::number_cell;
using plots::text_cell;

const char* words_of_variant(std::string_view variant) {
  if (variant == sound) return "Sound (clipped, Poisson, group norm)";
  if (variant == adam) return "DP-Adam (sound)";
  if (variant == own_gradients) return "Group norm, not clipped";
  if (variant == smooth) return "Smooth network, not clipped";
  if (variant == start) return "Before any step";
  return "As published (not clipped)";
}

std::string mean_text(const Curve* curve, EpochMetric metric) {
  return mean_and_range(curve == nullptr ? std::vector<double>{} : final_values(*curve, metric));
}

/// Every ε of these curves, ascending, without noise last.
std::vector<std::optional<double>> epsilons_of(const std::vector<std::vector<Curve>>& all) {
  std::vector<std::optional<double>> epsilons;
  for (const std::vector<Curve>& curves : all)
    for (const Curve& c : curves)
      if (std::ranges::find(epsilons, c.epsilon) == epsilons.end()) epsilons.push_back(c.epsilon);
  std::ranges::sort(epsilons, {}, [](const std::optional<double>& epsilon) {
    return epsilon.value_or(std::numeric_limits<double>::infinity());
  });
  return epsilons;
}

plots::Cell epsilon_cell(const std::optional<double>& epsilon) {
  return epsilon ? number_cell(*epsilon) : text_cell("–");
}

plots::Label privacy_label(const std::string& label) {
  return {label, label == "conditional" ? plots::Tone::caution : plots::Tone::bad};
}

/// The labels of the runs of a curve, each once.
plots::Cell labels_cell(const Curve& curve) {
  plots::Cell cell;
  for (const CurveRun* run : curve.runs) {
    const std::string& label = run->result.summary.label;
    if (std::ranges::find(cell.labels, label, &plots::Label::text) == cell.labels.end())
      cell.labels.push_back(privacy_label(label));
  }
  return cell;
}

/// Contributions above C in all runs of a curve.
Index violations_in(const Curve& curve) {
  Index sum = 0;
  for (const CurveRun* run : curve.runs)
    for (const TrainedEpoch& epoch : run->result.epochs) sum += epoch.violations;
  return sum;
}

/// The published runs beside clipped ones at the same nominal ε.

std::string gap_text(const std::vector<Curve>& curves, double epsilon, EpochMetric metric) {
  const Curve *none = curve_at(curves, std::nullopt), *noisy = curve_at(curves, epsilon);
  return none == nullptr || noisy == nullptr ? "–" : to_text(gap(*none, *noisy, metric));
}

/// A number in all epochs of a curve's runs that have it.
std::vector<double> over_epochs(
    const Curve& curve, const std::function<std::optional<double>(const TrainedEpoch&)>& value) {
  std::vector<double> values;
  for (const CurveRun* run : curve.runs)
    for (const TrainedEpoch& epoch : run->result.epochs)
      if (const auto v = value(epoch)) values.push_back(*v);
  return values;
}

plots::Cell largest_cell(const std::vector<double>& values) {
  return values.empty() ? text_cell("–") : number_cell(std::ranges::max(values));
}

/// The number of each run at its first or last epoch.
std::vector<double> at_end_of_run(const Curve& curve, bool first,
                                  std::optional<double> TrainedEpoch::*member) {
  std::vector<double> values;
  for (const CurveRun* run : curve.runs) {
    const auto& epochs = run->result.epochs;
    if (const auto& v = (first ? epochs.front() : epochs.back()).*member) values.push_back(*v);
  }
  return values;
}

}  // namespace

Shown shown(std::string_view figure, std::string_view variant) {
  return {figure, variant, words_of_variant(variant)};
}

std::vector<Curve> curves_of(const FigureData& data, const Shown& s) {
  std::vector<Curve> curves = curves_of(data.runs, s.figure, s.variant);
  if (s.figure != "3b") return curves;
  const std::vector<Curve> others = curves_of(data.runs, "1a", s.variant);
  if (const Curve* none = curve_at(others, std::nullopt)) curves.push_back(*none);
  return curves;
}

bool of_training(EpochMetric metric) { return metric == &TrainedEpoch::train_accuracy; }

plots::Table accuracy_table(const FigureData& data, const std::vector<Shown>& variants,
                            EpochMetric metric) {
  plots::Table t{.id = of_training(metric) ? "training-accuracy" : "accuracy",
                 .row_header = "nominal ε"};
  std::vector<std::vector<Curve>> all;
  bool of_two_classes = false;
  for (const Shown& s : variants) {
    all.push_back(curves_of(data, s));
    t.column_groups.push_back({s.words, {"after the last epoch", "after the best epoch"}});
    for (const Curve& c : all.back())
      of_two_classes = of_two_classes || c.runs.front()->result.epochs.back().matthews.has_value();
  }
  if (of_two_classes)
    for (plots::ColumnGroup& g : t.column_groups) g.columns.emplace_back("Matthews correlation");
  for (const auto& epsilon : epsilons_of(all)) {
    plots::Row row{.label = epsilon_text(epsilon)};
    for (const std::vector<Curve>& curves : all) {
      const Curve* curve = curve_at(curves, epsilon);
      row.cells.push_back(text_cell(mean_text(curve, metric)));
      row.cells.push_back(text_cell(
          mean_and_range(curve == nullptr ? std::vector<double>{} : best_values(*curve, metric))));
      if (!of_two_classes) continue;
      std::vector<double> correlations;
      if (curve != nullptr)
        for (const CurveRun* run : curve->runs)
          if (const auto& matthews = run->result.epochs.back().matthews)
            correlations.push_back(*matthews);
      row.cells.push_back(text_cell(mean_and_range(correlations)));
    }
    t.add(std::move(row));
  }
  return t;
}

plots::Table privacy_table(const FigureData& data, const std::vector<Shown>& variants) {
  plots::Table t{.id = "privacy", .row_header = "nominal ε"};
  t.column_groups = {{"", {"label", "C", "Δ", "z", "longer than C"}},
                     {"ε of the noise", {"add/remove", "replace-one", "replace-one, δ = 1/(2n)"}}};
  for (const Shown& s : variants) {
    plots::RowGroup group{.label = s.words};
    for (const Curve& c : curves_of(data, s)) {
      const CurveRun& run = *c.runs.front();
      const TrainingSummary& summary = run.result.summary;
      group.rows.push_back(
          {.label = epsilon_text(c.epsilon),
           .cells = {labels_cell(c), number_cell(run.training.clip), number_cell(summary.noise),
                     number_cell(summary.multiplier, 4), plots::count_cell(violations_in(c)),
                     epsilon_cell(summary.epsilon_add_remove),
                     epsilon_cell(summary.epsilon_replace_one),
                     epsilon_cell(summary.epsilon_small_delta)}});
      if (!summary.reason.empty() && std::ranges::find(t.notes, summary.reason) == t.notes.end())
        t.notes.push_back(summary.reason);
    }
    t.row_groups.push_back(std::move(group));
  }
  return t;
}

plots::Table clipping_table(const FigureData& data, std::string_view figure, EpochMetric metric) {
  plots::Table t{.id = "clipping", .row_header = "nominal ε"};
  const std::vector<std::vector<Curve>> all{curves_of(data.runs, figure, published),
                                            curves_of(data.runs, figure, sound)};
  for (const char* words : {"not clipped, as published", "clipped"})
    t.column_groups.push_back({words, {"accuracy", "ε, add/remove", "ε, replace-one", "label"}});
  for (const auto& epsilon : epsilons_of({all[1]})) {
    plots::Row row{.label = epsilon_text(epsilon)};
    for (const std::vector<Curve>& curves : all) {
      const Curve* curve = curve_at(curves, epsilon);
      row.cells.push_back(text_cell(mean_text(curve, metric)));
      if (curve == nullptr) {
        row.cells.insert(row.cells.end(), 3, text_cell("–"));
        continue;
      }
      const TrainingSummary& summary = curve->runs.front()->result.summary;
      row.cells.push_back(epsilon_cell(summary.epsilon_add_remove));
      row.cells.push_back(epsilon_cell(summary.epsilon_replace_one));
      row.cells.push_back(labels_cell(*curve));
    }
    t.add(std::move(row));
  }
  return t;
}

plots::Table dependence_table(const FigureData& data, const std::vector<Shown>& variants,
                              EpochMetric metric) {
  plots::Table t{.id = of_training(metric) ? "training-dependence" : "dependence",
                 .row_header = "runs"};
  t.column_groups.push_back(
      {"", {"rank correlation with ε", "no noise − ε = 4", "no noise − ε = 8"}});
  for (const Shown& s : variants) {
    const std::vector<Curve> curves = curves_of(data, s);
    t.add({.label = s.words,
           .cells = {text_cell(to_text(rank_correlation(curves, metric))),
                     text_cell(gap_text(curves, 4, metric)),
                     text_cell(gap_text(curves, 8, metric))}});
  }
  return t;
}

plots::Table norms_table(const FigureData& data, const std::vector<Shown>& variants) {
  plots::Table t{.id = "norms", .row_header = "nominal ε"};
  t.column_groups.push_back(
      {"longest of a record", {"of all batches", "at the start", "of 256 records"}});
  t.column_groups.push_back({"mean gradient", {"least", "greatest"}});
  t.column_groups.push_back({"", {"longer than C"}});
  for (const Shown& s : variants) {
    plots::RowGroup group{.label = s.words};
    for (const Curve& c : curves_of(data, s)) {
      const auto mean_norms =
          over_epochs(c, [](const TrainedEpoch& e) { return e.mean_gradient_norm; });
      group.rows.push_back(
          {.label = epsilon_text(c.epsilon),
           .cells = {
               largest_cell(over_epochs(c, [](const TrainedEpoch& e) { return e.largest_norm; })),
               largest_cell(over_epochs(c,
                                        [](const TrainedEpoch& e) {
                                          return e.epoch == 0 ? std::optional(e.audit_norm)
                                                              : std::nullopt;
                                        })),
               largest_cell(over_epochs(c, [](const TrainedEpoch& e) { return e.audit_norm; })),
               number_cell(std::ranges::min(mean_norms)), number_cell(std::ranges::max(mean_norms)),
               plots::count_cell(violations_in(c))}});
    }
    t.row_groups.push_back(std::move(group));
  }
  return t;
}

plots::Table second_order_table(const std::vector<Curve>& curves) {
  plots::Table t{.id = "second-order", .row_header = "nominal ε"};
  t.column_groups = {{"gradient norm", {"at the start", "at the end"}},
                     {"λ_{min}", {"at the start", "least over the run", "at the end"}}};
  for (const Curve& c : curves) {
    const auto cell = [&](bool first, std::optional<double> TrainedEpoch::*member) {
      return text_cell(mean_and_range(at_end_of_run(c, first, member)));
    };
    const auto least = over_epochs(c, [](const TrainedEpoch& e) { return e.lambda_min; });
    t.add({.label = epsilon_text(c.epsilon),
           .cells = {cell(true, &TrainedEpoch::smooth_gradient_norm),
                     cell(false, &TrainedEpoch::smooth_gradient_norm),
                     cell(true, &TrainedEpoch::lambda_min),
                     least.empty() ? text_cell("–") : number_cell(std::ranges::min(least)),
                     cell(false, &TrainedEpoch::lambda_min)}});
  }
  return t;
}

plots::Table bounds_table(const FigureData& data, EpochMetric metric) {
  plots::Table t{.id = "bounds", .row_header = "nominal ε"};
  t.column_groups.push_back(
      {"",
       {fmt::format("C = {:g}", theorem_bound), fmt::format("C = {:g}, Figure 1a", published_bound),
        "Figure 1a − Figure 3b"}});
  const std::vector<Curve> high = curves_of(data.runs, "3b", published),
                           low = curves_of(data.runs, "1a", published);
  for (const Curve& c : high) {
    const Curve* other = curve_at(low, c.epsilon);
    t.add({.label = epsilon_text(c.epsilon),
           .cells = {text_cell(mean_text(&c, metric)), text_cell(mean_text(other, metric)),
                     text_cell(other == nullptr ? "–" : to_text(gap(*other, c, metric)))}});
  }
  return t;
}

}  // namespace dpsosp::avdiukhin_2024_figures
