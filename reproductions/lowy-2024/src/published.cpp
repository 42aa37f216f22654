// SPDX-License-Identifier: Apache-2.0
#include "published.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp::lowy_2024_exhibit {
namespace {

using lowy_2024_probe::PublishedExperiment;

struct Stage {
  std::string_view key;
  std::string_view name;
};
constexpr std::array<Stage, 3> stages{
    {{"dp_sgd", "DP-SGD"}, {"dp_spider", "DP-SPIDER"}, {"warm_start", "warm start"}}};
constexpr std::array<PublishedSetting, 4> settings{
    {{"printed", false}, {"repaired", false}, {"printed", true}, {"repaired", true}}};
constexpr std::array<std::string_view, 2> controls{"no_noise", "no_data"};
constexpr double control_epsilon = 1;

int seeds(const Study& study) {
  return study.scale == Scale::smoke ? 2 : study.scale == Scale::quick ? 10 : 40;
}

Job job(const Study& study, PublishedSetting setting, std::string_view stage, double epsilon,
        std::string_view door) {
  PublishedExperiment parameters{.stage = std::string(stage),
                                 .variant = from_word<Variant>(std::string(setting.variant)),
                                 .epsilon = epsilon,
                                 .seeds = seeds(study)};
  if (setting.tuned)
    parameters.tuning = study.scale == Scale::full ? 10 : study.scale == Scale::quick ? 3 : 1;
  if (!door.empty()) parameters.door = from_word<Door>(std::string(door));
  return study.probe(parameters);
}

bool at_scale(PublishedSetting setting, const Study& study) {
  return study.scale != Scale::smoke || !setting.tuned;
}

double mean(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

std::string title(PublishedSetting s) {
  return fmt::format("{}, {}", s.variant == "printed" ? "as the script" : "accounted noise",
                     s.tuned ? "tuned" : "script's step sizes");
}

std::string settings_text(const std::map<std::string, std::string>& chosen) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : chosen) parts.push_back(fmt::format("{} {}", name, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

plots::Table table(const Runs& runs, const Study& study, PublishedSetting setting) {
  plots::Table t;
  t.id = fmt::format("{}-{}", setting.variant, setting.tuned ? "tuned" : "defaults");
  t.title = title(setting);
  // Of the script's noise the ledger has an upper bound that credits no sampling, which is no ε of
  // it; claim c17-privacy has an interval.
  const bool accounted = setting.variant == "repaired";
  t.caption = fmt::format(
      "Mean gradient norm of the last iterate over {} seeds{}. Ratio: median over seeds of the "
      "warm "
      "start's train gradient over the method's, with Holm-adjusted p over all ε.",
      seeds(study), accounted ? "; ε spent is the ledger's, replace-one, at δ = n^{-3/2}" : "");
  t.row_header = "ε, method";
  t.column_groups.push_back({"", {"train", "test", "start", "warm start / method", "settings"}});
  auto& columns = t.column_groups.back().columns;
  if (accounted) columns.insert(columns.begin() + 3, "ε spent");
  std::vector<PairedComparison> comparisons;
  for (const double epsilon : published_epsilons(study))
    for (const Stage& s : stages) {
      if (s.key == "warm_start") continue;
      comparisons.push_back(
          compare("", published_cell(runs, study, setting, "warm_start", epsilon).train,
                  published_cell(runs, study, setting, s.key, epsilon).train));
    }
  adjust(comparisons);
  std::size_t next = 0;
  for (const double epsilon : published_epsilons(study)) {
    plots::RowGroup group{.label = fmt::format("ε = {:g}", epsilon)};
    for (const Stage& s : stages) {
      const PublishedExperiment::Result c = published_cell(runs, study, setting, s.key, epsilon);
      std::string ratio = "–";
      if (s.key != "warm_start") {
        const PairedComparison& p = comparisons[next++];
        ratio = fmt::format("{:.3g}, p = {:.2g}", p.ratio, p.adjusted_p);
      }
      plots::Row row{.label = std::string(s.name),
                     .cells = {plots::text_cell(fmt::format("{:.3f}", mean(c.train))),
                               plots::text_cell(fmt::format("{:.3f}", mean(c.test))),
                               plots::text_cell(fmt::format("{:.3f}", c.start))}};
      if (accounted) row.cells.push_back(plots::text_cell(fmt::format("{:.3g}", c.spent)));
      row.cells.push_back(plots::text_cell(std::move(ratio)));
      row.cells.push_back(plots::text_cell(settings_text(c.settings)));
      group.rows.push_back(std::move(row));
    }
    t.row_groups.push_back(std::move(group));
  }
  return t;
}

plots::Table control_table(const Runs& runs, const Study& study) {
  plots::Table t;
  t.id = "controls";
  t.row_header = "method";
  t.column_groups.push_back({"", {"start", "ε = ∞", "noise only", "private, ε = 1"}});
  for (const Stage& s : stages) {
    const PublishedSetting setting{"repaired", false};
    const PublishedExperiment::Result c =
        published_cell(runs, study, setting, s.key, control_epsilon);
    plots::Row row{.label = std::string(s.name),
                   .cells = {plots::text_cell(fmt::format("{:.3f}", c.start))}};
    for (const std::string_view door : controls)
      row.cells.push_back(plots::text_cell(fmt::format(
          "{:.3f}",
          mean(published_cell(runs, study, setting, s.key, control_epsilon, door).train))));
    row.cells.push_back(plots::text_cell(fmt::format("{:.3f}", mean(c.train))));
    t.add(std::move(row));
  }
  return t;
}

plots::Figure figure(const Runs& runs, const Study& study) {
  plots::Figure f;
  f.id = "gradient-norms";
  f.columns = 2;
  for (const PublishedSetting setting : settings) {
    if (!at_scale(setting, study)) continue;
    plots::Panel p;
    p.title = title(setting);
    p.x = {.label = "ε", .scale = plots::Scale::log};
    p.y = {.label = "gradient norm"};
    for (std::size_t k = 0; k < stages.size(); ++k) {
      plots::Series train{.label = std::string(stages[k].name), .style = k};
      plots::Series test{.label = train.label + ", test", .style = k, .dashed = true};
      for (const double epsilon : published_epsilons(study)) {
        PublishedExperiment::Result c =
            published_cell(runs, study, setting, stages[k].key, epsilon);
        train.x.push_back(epsilon);
        train.y.push_back(mean(c.train));
        std::ranges::sort(c.train);
        train.low.push_back(c.train[c.train.size() / 4]);
        train.high.push_back(c.train[3 * c.train.size() / 4]);
        test.x.push_back(epsilon);
        test.y.push_back(mean(c.test));
      }
      p.series.push_back(std::move(train));
      p.series.push_back(std::move(test));
    }
    p.lines.push_back(
        {.label = "start, mean",
         .value = published_cell(runs, study, setting, "dp_sgd", control_epsilon).start});
    f.panels.push_back(std::move(p));
  }
  return f;
}

}  // namespace

const std::vector<double>& published_epsilons(const Study& study) {
  static const std::vector<double> few{1, 8}, all{0.1, 0.2, 0.5, 1, 2, 4, 8};
  return study.scale == Scale::smoke ? few : all;
}

std::vector<Job> published_jobs(const Study& study) {
  std::vector<Job> jobs;
  for (const Stage& s : stages) {
    for (const PublishedSetting setting : settings)
      if (at_scale(setting, study))
        for (const double epsilon : published_epsilons(study))
          jobs.push_back(job(study, setting, s.key, epsilon, ""));
    for (const std::string_view door : controls)
      jobs.push_back(job(study, {"repaired", false}, s.key, control_epsilon, door));
  }
  return jobs;
}

PublishedExperiment::Result published_cell(const Runs& runs, const Study& study,
                                           PublishedSetting setting, std::string_view stage,
                                           double epsilon, std::string_view door) {
  return read_result<PublishedExperiment>(
      runs.at(job(study, setting, stage, epsilon, door)).result);
}

plots::Exhibit published_exhibit(const Runs& runs, const Study& study) {
  plots::Exhibit e;
  int better = 0, compared = 0;
  for (const PublishedSetting setting : settings) {
    if (!at_scale(setting, study)) continue;
    e.tables.push_back(table(runs, study, setting));
    for (const double epsilon : published_epsilons(study)) {
      const auto at = [&](std::string_view stage) {
        return mean(published_cell(runs, study, setting, stage, epsilon).train);
      };
      ++compared;
      better += at("warm_start") < std::min(at("dp_sgd"), at("dp_spider"));
    }
  }
  e.tables.push_back(control_table(runs, study));
  e.figures.push_back(figure(runs, study));
  e.verdict = {fmt::format("the warm start has the least mean train gradient in {} of {} settings",
                           better, compared),
               better == compared ? plots::Tone::good : plots::Tone::caution};
  return e;
}

}  // namespace dpsosp::lowy_2024_exhibit
