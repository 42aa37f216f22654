// SPDX-License-Identifier: Apache-2.0
#include "figure_pages.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/judging.hpp"
#include "figure_claims.hpp"
#include "figure_statistics.hpp"
#include "figure_tables.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace avdiukhin_2024_figures {
namespace {

using plots::number_cell;
using plots::text_cell;

constexpr double gap_in_curve = std::numeric_limits<double>::quiet_NaN();

std::string series_label(std::optional<double> epsilon) {
  return epsilon ? "ε = " + epsilon_text(epsilon) : epsilon_text(epsilon);
}

/// Each published ε has a style in every figure; without noise is black.
std::size_t style_of(std::optional<double> epsilon) {
  constexpr std::size_t black = 6;
  if (!epsilon) return black;
  const auto place = std::ranges::find(published_epsilons, *epsilon);
  const auto k = static_cast<std::size_t>(place - std::begin(published_epsilons));
  return k < black ? k : k + 1;
}

/// Mean over runs of what `value` takes from each epoch, with the range as a band. What is not
/// finite is a gap.
plots::Series series_of(const std::vector<const CurveRun*>& runs,
                        const std::function<double(const TrainedEpoch&)>& value) {
  plots::Series s;
  std::map<Index, std::vector<double>> by_epoch;
  for (const CurveRun* run : runs)
    for (const TrainedEpoch& epoch : run->result.epochs)
      by_epoch[epoch.epoch].push_back(value(epoch));
  for (const auto& [epoch, values] : by_epoch) {
    const bool drawn = std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
    s.x.push_back(static_cast<double>(epoch));
    s.y.push_back(drawn ? mean(values) : gap_in_curve);
    s.low.push_back(drawn ? std::ranges::min(values) : gap_in_curve);
    s.high.push_back(drawn ? std::ranges::max(values) : gap_in_curve);
  }
  return s;
}

/// One curve an ε.
plots::Panel panel_by_epsilon(std::string title, std::string ordinate,
                              const std::vector<Curve>& curves,
                              const std::function<double(const TrainedEpoch&)>& value) {
  plots::Panel p{
      .title = std::move(title), .x = {.label = "epoch"}, .y = {.label = std::move(ordinate)}};
  for (const Curve& c : curves) {
    plots::Series s = series_of(c.runs, value);
    s.label = series_label(c.epsilon);
    s.style = style_of(c.epsilon);
    p.series.push_back(std::move(s));
  }
  return p;
}

plots::Panel accuracy_panel(const FigureData& data, const Shown& s, EpochMetric metric) {
  return panel_by_epsilon(s.words, of_training(metric) ? "training accuracy" : "test accuracy",
                          curves_of(data, s),
                          [metric](const TrainedEpoch& epoch) { return epoch.*metric; });
}

/// What a run is made of, and what of it is smaller than the paper's.
std::string size_words(const CurveRun& run) {
  const Training& t = run.training;
  const std::string widths = t.width == 1
                                 ? "of the published widths"
                                 : fmt::format("with the published widths divided by {}", t.width);
  return fmt::format(
      "{}{} {} (d = {}), the first {} records of {} and {} test records, B = {}, {} epochs (T = "
      "{}){}.",
      is_published_size(run) ? "" : "Reduced, and no test of the paper's figure: ", t.network,
      widths, run.result.summary.parameters, t.records, t.data, t.test_records, t.batch, t.epochs,
      run.result.summary.steps, t.augment ? ", flips and translations" : "");
}

std::string caption_of(const FigureData& data, const std::vector<Shown>& variants) {
  std::string caption = "Lines are means over seeds, bands reach from the least to the greatest.";
  std::string sizes;
  for (const Shown& s : variants) {
    const std::vector<Curve> curves = curves_of(data, s);
    if (curves.empty()) continue;
    const CurveRun& run = *curves.front().runs.front();
    if (std::string words = size_words(run); words != sizes) caption += " " + words;
    sizes = size_words(run);
    std::size_t seeds = 0;
    for (const Curve& c : curves) seeds = std::max(seeds, c.runs.size());
    caption += fmt::format(" {}: η = {:g}, {} seed{}.", s.words, run.training.step_size, seeds,
                           seeds == 1 ? "" : "s");
  }
  return caption;
}

plots::Figure accuracy_figure(const FigureData& data, std::string_view figure,
                              const std::vector<Shown>& variants, EpochMetric metric) {
  plots::Figure f{.id = "accuracy-curves",
                  .title = fmt::format("Figure {}, run again", figure),
                  .caption = caption_of(data, variants)};
  double least = 1, greatest = 0;
  for (const Shown& s : variants) {
    plots::Panel p = accuracy_panel(data, s, metric);
    if (p.series.empty()) continue;
    for (const plots::Series& series : p.series)
      for (std::size_t k = 0; k < series.x.size(); ++k) {
        least = std::fmin(least, series.low[k]);
        greatest = std::fmax(greatest, series.high[k]);
      }
    f.panels.push_back(std::move(p));
  }
  for (plots::Panel& p : f.panels)
    p.y.range = std::pair(std::max(0.0, least - 0.02), std::min(1.0, greatest + 0.02));
  f.columns = f.panels.size();
  return f;
}

double positive(double value) { return value > 0 ? value : gap_in_curve; }

/// Norms of gradients against epoch, over the runs of a variant at every ε.
plots::Panel norms_panel(const FigureData& data, const Shown& s) {
  plots::Panel p{.title = s.words,
                 .x = {.label = "epoch"},
                 .y = {.label = "norm", .scale = plots::Scale::log},
                 .lines = {{fmt::format("C = {:g}", published_bound), plots::Direction::horizontal,
                            published_bound}}};
  std::vector<const CurveRun*> runs;
  for (const Curve& c : curves_of(data, s)) runs.insert(runs.end(), c.runs.begin(), c.runs.end());
  if (runs.empty()) return p;
  const auto add = [&](const char* label, std::size_t style,
                       const std::function<double(const TrainedEpoch&)>& value) {
    plots::Series series = series_of(runs, value);
    series.label = label;
    series.style = style;
    p.series.push_back(std::move(series));
  };
  add("longest of the epoch's batches", 8, [](const TrainedEpoch& epoch) {
    return positive(epoch.largest_norm.value_or(gap_in_curve));
  });
  add("longest of 256 records", 9,
      [](const TrainedEpoch& epoch) { return positive(epoch.audit_norm); });
  add("norm of the mean gradient", 10,
      [](const TrainedEpoch& epoch) { return positive(epoch.mean_gradient_norm); });
  return p;
}

plots::Figure second_order_figure(const FigureData& data, const Shown& s) {
  const std::vector<Curve> curves = curves_of(data, s);
  return {.id = "second-order-curves",
          .title = "Gradient and least eigenvalue along the run",
          .caption = caption_of(data, {s}),
          .panels = {panel_by_epsilon("gradient of the smooth network", "gradient norm", curves,
                                      [](const TrainedEpoch& e) {
                                        return e.smooth_gradient_norm.value_or(gap_in_curve);
                                      }),
                     panel_by_epsilon("least eigenvalue of its Hessian", "λ_{min}", curves,
                                      [](const TrainedEpoch& e) {
                                        return e.lambda_min.value_or(gap_in_curve);
                                      })},
          .columns = 2};
}

/// "by 0.2.0, GCC 12.2.0, … on 2026-11-25"
std::string origin_words(const std::vector<ComputedBy>& origins) {
  std::vector<std::string> words;
  for (const ComputedBy& o : origins)
    words.push_back(fmt::format("by dpsosp {} at scale {} on {}{}", o.build, o.scale, o.first,
                                o.last == o.first ? "" : " to " + o.last));
  return words.empty() ? "by a build that was not recorded"
                       : fmt::format("{}", fmt::join(words, " and "));
}

void add_first_figure(plots::Exhibit& e, std::string_view figure, const FigureData& data,
                      const std::vector<Shown>& variants, EpochMetric metric) {
  e.tables = {accuracy_table(data, variants, metric), privacy_table(data, variants),
              clipping_table(data, figure, metric), dependence_table(data, variants, metric)};
  e.figures = {accuracy_figure(data, figure, variants, metric)};
}

void add_figure_1a(plots::Exhibit& e, const FigureData& data) {
  add_first_figure(e, "1a", data, {shown("1a", published), shown("1a", sound), shown("1a", adam)},
                   &TrainedEpoch::test_accuracy);
  const Shown with_hessian = shown("1a", smooth);
  const std::vector<Curve> curves = curves_of(data, with_hessian);
  e.tables.push_back(second_order_table(curves));
  if (!curves.empty()) e.figures.push_back(second_order_figure(data, with_hessian));
}

void add_figure_3a(plots::Exhibit& e, const FigureData& data) {
  const std::vector<Shown> trained{shown("1a", published)};
  const std::vector<Shown> looked_at{shown("1a", published), shown("3a", own_gradients),
                                     shown("3a", start)};
  e.tables = {accuracy_table(data, trained, &TrainedEpoch::train_accuracy),
              norms_table(data, looked_at),
              dependence_table(data, trained, &TrainedEpoch::train_accuracy)};
  e.figures = {accuracy_figure(data, "3a", trained, &TrainedEpoch::train_accuracy)};
  plots::Figure norms{
      .id = "norm-curves",
      .title = "Panel 3c, which the text promises: norms of gradients and C",
      .caption = caption_of(data, {looked_at[0], looked_at[1]}) +
                 " Over the runs at every ε. With batch normalisation a record has no "
                 "gradient of its own, and its contribution is shown."};
  for (const Shown& s : {looked_at[0], looked_at[1]})
    if (plots::Panel p = norms_panel(data, s); !p.series.empty())
      norms.panels.push_back(std::move(p));
  norms.columns = norms.panels.size();
  e.figures.push_back(std::move(norms));
}

void add_figure_3b(plots::Exhibit& e, const FigureData& data) {
  const EpochMetric metric = &TrainedEpoch::test_accuracy;
  Shown pessimistic = shown("3b", published), as_published = shown("1a", published);
  pessimistic.words = fmt::format("C = {:g}, of Theorem 3.3", theorem_bound);
  as_published.words = fmt::format("C = {:g}, as Figure 1a", published_bound);
  e.tables = {bounds_table(data, metric), privacy_table(data, {pessimistic}),
              dependence_table(data, {pessimistic}, metric)};
  e.figures = {accuracy_figure(data, "3b", {pessimistic, as_published}, metric)};
}

/// What the published runs say of the numbers that the paper speaks of.
std::string verdict_words(std::string_view figure, const FigureData& data) {
  const EpochMetric metric =
      figure == "3a" ? &TrainedEpoch::train_accuracy : &TrainedEpoch::test_accuracy;
  const std::vector<Curve> curves = curves_of(data.runs, figure == "3a" ? "1a" : figure, published);
  std::vector<std::string> words;
  for (const std::optional<double> epsilon :
       {std::optional(0.125), std::optional(8.0), std::optional<double>()})
    if (const Curve* c = curve_at(curves, epsilon))
      words.push_back(
          fmt::format("{:.3f} {}", mean(final_values(*c, metric)),
                      epsilon ? "at ε = " + epsilon_text(epsilon) : std::string("without noise")));
  return fmt::format("{} accuracy {}{}", figure == "3a" ? "training" : "test",
                     fmt::join(words, ", "), data.before ? "; computed before" : "");
}

}  // namespace

plots::Exhibit figure_page(std::string_view figure, const FigureData& data) {
  plots::Exhibit e;
  if (data.runs.empty()) {
    e.notice = {nothing_to_show(figure)};
    e.verdict = {e.notice.front(), plots::Tone::caution};
    return e;
  }
  e.verdict = {verdict_words(figure, data), plots::Tone::neutral};
  if (data.before)
    e.notice.push_back(
        fmt::format("Computed before, with `./run reproduce avdiukhin-2024`, {}; not computed in "
                    "this run.",
                    origin_words(data.origins)));
  std::size_t failed = 0;
  std::vector<CurveRun> own;
  for (const CurveRun& run : data.runs) {
    failed += !run.failure.empty();
    if (run.figure == figure) own.push_back(run);
  }
  if (failed > 0)
    e.notice.push_back(fmt::format("{} of {} runs failed and are not shown; curves.csv says why.",
                                   failed, data.runs.size()));
  if (figure == "1a") add_figure_1a(e, data);
  if (figure == "3a") add_figure_3a(e, data);
  if (figure == "3b") add_figure_3b(e, data);
  if (figure == "1b" || figure == "2a" || figure == "2b")
    add_first_figure(e, figure, data, {shown(figure, published), shown(figure, sound)},
                     &TrainedEpoch::test_accuracy);
  std::erase_if(e.figures, [](const plots::Figure& f) { return f.panels.empty(); });
  e.attachments = {
      {"curves.csv: every epoch of the runs of this figure", "curves.csv", curves_csv(own)},
      {"provenance.csv: where and when they were computed", "provenance.csv",
       provenance_csv(data.origins)}};
  return e;
}

}  // namespace avdiukhin_2024_figures

std::vector<ExhibitEntry> avdiukhin_2024_figure_exhibits() {
  using namespace avdiukhin_2024_figures;
  std::vector<ExhibitEntry> entries;
  for (const char* figure : {"1a", "1b", "2a", "2b", "3a", "3b"}) {
    entries.push_back(exhibit_entry(
        avdiukhin_2024_texts(), fmt::format("avdiukhin-2024/figure-{}", figure),
        [figure](const Study& study) { return figure_jobs(figure, study); },
        [figure](const Runs& runs, const Study& study) {
          return figure_page(figure,
                             figure_data(figure, runs, study, avdiukhin_2024_texts().curves));
        }));
    entries.back().on_request = true;
  }
  return entries;
}

}  // namespace dpsosp
