// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/text_file.hpp"
#include "dpsosp/experiments/known_data.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/run_costs.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/toml_reader.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "sweep_axes.hpp"
#include "tuning_file.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr double most_runs = 1e6;  // of a part
constexpr double usual_dimension = 100;
constexpr double small_data = 1e6;  // records times dimension that take milliseconds to make

const std::vector<std::string> spec_names{
    "records", "dimension", "epsilon", "delta",        "calibrator", "noise",
    "variant", "schedule",  "door",    "observations", "settings",   "problem_settings"};

void read_settings(const TomlNode& node, std::map<std::string, std::string>& into) {
  for (const auto& [name, value] : node.table().entries()) {
    const json v = value.scalar();
    into[name] = v.is_string()         ? v.get<std::string>()
                 : v.is_number_float() ? fmt::format("{}", v.get<double>())
                                       : v.dump();
  }
}

/// Everything of a run but algorithm, problem, seed: of the file for all arms, and of an arm.
void read_spec(const TomlTable& t, Scale scale, RunSpec& spec) {
  const auto given = [&](const char* name) { return t.has(name); };
  const auto at = [&](const char* name) { return at_scale(t.at(name), scale); };
  if (given("records")) spec.records = at("records").integer(1);
  if (given("dimension")) spec.dimension = at("dimension").integer(1);
  if (given("epsilon")) spec.epsilon = epsilon_of(at("epsilon"));
  if (given("delta")) spec.delta = delta_of(at("delta"));
  const auto read_word = [&]<class Enum>(const char* key, Enum& value) {
    if (given(key)) value = at(key).checked([&] { return from_word<Enum>(at(key).text()); });
  };
  read_word("calibrator", spec.calibrator);
  read_word("variant", spec.variant);
  read_word("schedule", spec.schedule);
  read_word("noise", spec.noise);
  read_word("door", spec.door);
  if (given("observations")) spec.observations = at("observations").integer(0);
  if (given("settings")) read_settings(t.at("settings"), spec.settings);
  if (given("problem_settings")) read_settings(t.at("problem_settings"), spec.problem_settings);
}

std::string name_of(const TomlTable& t) {
  const TomlNode node = t.at("name");
  if (node.text().empty()) node.refuse("a name");
  return node.text();
}

/// A caller's file as it is named from the folder of the sweep's file, in which cards are, too.
std::string named_from(const std::filesystem::path& folder, const std::string& file) {
  return file.starts_with(sha256_prefix) ? file : (folder / file).string();
}

/// The same on axes.
void name_from(const std::filesystem::path& folder, std::vector<Axis>& axes) {
  for (Axis& axis : axes)
    for (Coordinates& point : axis)
      for (auto& [name, value] : point)
        if (name == std::string("problem.") + own_data_setting && value.is_string())
          value = named_from(folder, value.get<std::string>());
}

/// \param folder  of the sweep's file, to which the card of a program is relative
Arm arm_of(const TomlNode& node, const RunSpec& common, Scale scale,
           const std::filesystem::path& folder) {
  TomlTable t = node.table();
  std::vector<std::string> names = spec_names;
  names.insert(names.end(), {"name", "algorithm", "program", "problem", "tune"});
  t.allow(names);
  Arm arm{.name = name_of(t), .spec = common};
  if (t.has("program")) {
    if (t.has("algorithm")) node.fail("program and algorithm in one arm, expected one of them");
    const std::filesystem::path card = folder / t.at("program").text();
    arm.spec.algorithm = t.at("program").checked([&] { return register_program(card); });
  } else {
    arm.spec.algorithm = t.at("algorithm").text();
  }
  arm.spec.problem = t.at("problem").text();
  read_spec(t, scale, arm.spec);
  node.checked([&] {
    const auto data = arm.spec.problem_settings.find(own_data_setting);
    if (data != arm.spec.problem_settings.end() && reads_own_data(arm.spec.problem))
      data->second = named_from(folder, data->second);
    describe(arm.spec);
  });
  return arm;
}

/// Refuses what no slope can be fitted along.
void check_fit_axis(const TomlNode& node, const Part& part) {
  const std::string name = node.text();
  std::vector<std::string> names;
  for (const Axis& axis : part.axes)
    for (const auto& [coordinate, unused] : axis.front()) names.push_back(coordinate);
  if (std::ranges::find(names, name) == names.end())
    node.refuse(
        fmt::format("a coordinate of part {}: {}", part.name,
                    names.empty() ? "it has none" : fmt::format("{}", fmt::join(names, ", "))));
  for (const Axis& axis : part.axes)
    for (const Coordinates& p : axis)
      for (const auto& [coordinate, value] : p)
        if (coordinate == name && !(value.is_number() && value.get<double>() > 0))
          node.fail(fmt::format("{} = {}, expected numbers > 0 where a slope is fitted", name,
                                value.dump()));
}

/// Claimed exponent on the fit's axis; where the claim states several there, that of the
/// fit's part and arm.
const StatedExponent& exponent_of(const TomlNode& claim, const FitRequest& fit, const Part& part,
                                  const Sweep& sweep, std::span<const StatedExponent> stated) {
  const auto fitted = [&](const std::string& arm) {
    return fit.arm.empty()
               ? std::ranges::any_of(part.arms, [&](auto a) { return sweep.arms[a].name == arm; })
               : arm == fit.arm;
  };
  const auto add = [](auto& list, const auto& value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  };
  // Entries of one exponent are one.
  const auto add_entry = [](std::vector<const StatedExponent*>& list, const StatedExponent& e) {
    if (std::ranges::find(list, e.exponent, &StatedExponent::exponent) == list.end())
      list.push_back(&e);
  };
  const std::string id = claim.text();
  std::vector<std::string> claims, axes;
  std::vector<const StatedExponent*> anywhere, here;
  for (const StatedExponent& e : stated) {
    add(claims, e.claim);
    if (e.claim != id) continue;
    add(axes, e.axis);
    if (e.axis != fit.axis) continue;
    add_entry(anywhere, e);
    if (e.part == part.name && fitted(e.arm)) add_entry(here, e);
  }
  if (axes.empty()) claim.checked([&] { reject_unknown("slope claim", id, claims); });
  if (anywhere.empty())
    claim.fail(fmt::format("claim {} states no exponent on {}, only on {}", id, fit.axis,
                           fmt::join(axes, ", ")));
  if (anywhere.size() == 1) return *anywhere.front();
  if (here.size() == 1) return *here.front();
  claim.fail(fmt::format(
      "claim {} states {} exponents on {} and {} of them for this part and arm, expected one", id,
      anywhere.size(), fit.axis, here.empty() ? "none" : "several"));
}

/// True if the claim is about the fit's metric: that of its entries for this part and arm, where it
/// has such, else that of any entry on this axis. The schedule's own α is judged beside each.
bool is_of_claim(const FitRequest& fit, const Part& part, const Sweep& sweep,
                 std::span<const StatedExponent> stated) {
  if (fit.metric == "schedule.alpha") return true;
  bool here = false, here_same = false, any_same = false;
  for (const StatedExponent& e : stated) {
    if (e.claim != fit.claim || e.axis != fit.axis) continue;
    const bool same = e.metric.empty() || e.metric == fit.metric;
    any_same |= same;
    if (e.part != part.name ||
        (fit.arm.empty()
             ? std::ranges::none_of(part.arms, [&](auto a) { return sweep.arms[a].name == e.arm; })
             : e.arm != fit.arm))
      continue;
    here = true;
    here_same |= same;
  }
  return here ? here_same : any_same;
}

/// Every exponent that a claim names on the axis.
std::vector<double> named_exponents(std::string_view axis, std::span<const StatedExponent> stated) {
  std::vector<double> named;
  for (const StatedExponent& e : stated) {
    if (e.axis != axis) continue;
    named.insert(named.end(), {e.exponent.low, e.exponent.high});
    named.insert(named.end(), e.rivals.begin(), e.rivals.end());
  }
  return named;
}

FitRequest fit_of(const TomlNode& node, const Part& part, const Sweep& sweep,
                  std::span<const StatedExponent> stated) {
  TomlTable t = node.table();
  t.allow({"axis", "unit", "metric", "arm", "claim", "claimed", "rivals", "reference",
           "ends_at_alpha"});
  FitRequest f;
  f.axis = t.at("axis").text();
  f.metric = t.has("metric") ? t.at("metric").text() : sweep.metric;
  if (f.metric.empty()) node.fail("metric is missing, here and at the top of the file");
  (t.has("metric") ? t.at("metric") : node).checked([&] { check_metric(f.metric); });
  check_fit_axis(t.at("axis"), part);
  if (t.has("unit")) {
    if (t.at("unit").text() != "noise") t.at("unit").refuse("\"noise\"");
    if (f.axis != "epsilon")
      t.at("unit").fail(
          fmt::format("unit = \"noise\" with axis = \"{}\", expected axis = \"epsilon\"", f.axis));
    f.in_noise = true;
  }
  if (t.has("arm")) {
    f.arm = t.at("arm").text();
    if (std::ranges::none_of(part.arms, [&](std::size_t a) { return sweep.arms[a].name == f.arm; }))
      t.at("arm").refuse("an arm of part " + part.name);
  }
  if (t.has("claimed")) f.claimed = std::make_from_tuple<ClaimedExponent>(t.at("claimed").range());
  if (t.has("claim")) {
    if (f.claimed) node.fail("claim and claimed in one fit, expected one of them");
    f.claim = t.at("claim").text();
    const StatedExponent e = exponent_of(t.at("claim"), f, part, sweep, stated);
    if (is_of_claim(f, part, sweep, stated)) {
      f.claimed = e.exponent;
      f.solved = e.solved;
    }
  }
  f.rivals = named_exponents(f.axis, stated);
  if (t.has("rivals")) {
    if (!f.claimed && f.claim.empty())
      t.at("rivals").fail("rivals of no claimed exponent, expected claim or claimed");
    for (const TomlNode& rival : t.at("rivals").array()) f.rivals.push_back(rival.number());
  }
  if (t.has("ends_at_alpha")) f.ends_at_alpha = t.at("ends_at_alpha").boolean();
  if (t.has("reference")) f.reference = t.at("reference").number();
  return f;
}

std::vector<std::size_t> arms_of(const TomlTable& t, const Sweep& sweep) {
  std::vector<std::size_t> arms;
  if (!t.has("arms")) {
    for (std::size_t k = 0; k < sweep.arms.size(); ++k) arms.push_back(k);
    return arms;
  }
  std::vector<std::string> names;
  for (const Arm& a : sweep.arms) names.push_back(a.name);
  for (const TomlNode& item : t.at("arms").array()) {
    const auto found = std::ranges::find(names, item.text());
    if (found == names.end()) item.checked([&] { reject_unknown("arm", item.text(), names); });
    const auto arm = static_cast<std::size_t>(found - names.begin());
    if (std::ranges::find(arms, arm) != arms.end())
      item.fail(fmt::format("arm '{}' occurs twice in one part", *found));
    arms.push_back(arm);
  }
  if (arms.empty()) t.at("arms").refuse("at least one arm");
  return arms;
}

/// \return whether the part runs at this scale
bool on_scale(const TomlTable& t, Scale scale) {
  if (!t.has("scales")) return true;
  const std::vector<TomlNode> scales = t.at("scales").array();
  if (scales.empty()) t.at("scales").refuse("some of smoke, quick, full");
  bool on = false;
  for (const TomlNode& item : scales)
    item.checked([&] { on = from_word<Scale>(item.text()) == scale || on; });
  return on;
}

bool coordinate_named(const Coordinates& point, std::string_view name) {
  return std::ranges::find(point, name, &Coordinates::value_type::first) != point.end();
}

std::vector<Axis> axes_of(const TomlNode& node, Scale scale) {
  std::vector<Axis> axes;
  std::set<std::string> names;
  for (const TomlNode& item : node.array()) {
    axes.push_back(axis_of(item, scale));
    for (const auto& [name, unused] : axes.back().front())
      if (!names.insert(name).second) item.fail(fmt::format("{} is on two axes", name));
  }
  return axes;
}

bool has_small_data(const RunDescription& run) {
  const auto sampling = run.problem_settings.find("sampling");
  if (sampling != run.problem_settings.end() &&
      (sampling->second == "whole" || sampling->second == "stream"))
    return true;  // simulated
  const double dimension = run.dimension ? static_cast<double>(*run.dimension) : usual_dimension;
  return static_cast<double>(run.records) * dimension <= small_data;
}

/// Refuses what a run would refuse before its first step, at the smallest n of all else that moves.
/// Larger data are left to the runs: to make them here would take long.
void check_smallest(const Sweep& sweep, const Part& part, const std::vector<Cell>& cells) {
  std::map<std::string, const Cell*> smallest;
  const auto records = [](const Cell& c) { return static_cast<double>(c.first_run().records); };
  for (const Cell& c : cells) {
    Coordinates rest = c.at;
    std::erase_if(rest, [](const auto& moved) { return moved.first == "records"; });
    const Cell*& least = smallest[fmt::format("{} {}", c.arm, to_text(rest))];
    if (least == nullptr || records(c) < records(*least)) least = &c;
  }
  for (const auto& [unused, cell] : smallest) {
    const RunDescription& run = cell->first_run();
    if (!run.data.empty() && known_data(run.data).empty()) continue;  // its runs are stored
    if (!has_small_data(run)) continue;
    try {
      scheduled_parameters(run);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", place_of(sweep, part, *cell), e.what()));
    }
  }
}

/// The axis of the arm's space that moves this coordinate; null without one.
const Axis* tuned(const Arm& arm, const std::string& name) {
  const auto found = std::ranges::find_if(
      arm.space, [&](const Axis& axis) { return axis.front().front().first == name; });
  return found == arm.space.end() ? nullptr : &*found;
}

/// Refuses what describes no run, or too many.
void check_cells(const TomlNode& axes, const Sweep& sweep, Part part, bool try_runs) {
  double runs = 0;
  for (const std::size_t arm : part.arms) {
    const std::size_t trials = sweep.arms[arm].trials.size();
    runs += static_cast<double>(part.seeds);
    if (trials > 1) runs += static_cast<double>(trials) * static_cast<double>(sweep.tuning.seeds);
    for (const Axis& axis : part.axes)
      for (const auto& [name, unused] : axis.front())
        if (const Axis* both = tuned(sweep.arms[arm], name); both != nullptr)
          axes.fail(fmt::format("{} is on an axis of part {} and tuned in arm {}", name, part.name,
                                sweep.arms[arm].name));
  }
  for (const Axis& axis : part.axes) runs *= static_cast<double>(axis.size());
  if (runs > most_runs)
    axes.fail(
        fmt::format("part {} has {:g} runs, expected at most {:g}", part.name, runs, most_runs));
  Sweep plain = as_written(sweep);
  plain.parts = {part};
  Sweep tuned = sweep;
  tuned.parts = {part};
  for (Part& search : search_of(tuned).parts) plain.parts.push_back(std::move(search));
  for (Part& each : plain.parts) {
    each.seeds = 1;
    for (const Axis& axis : each.by_seed)
      each.seeds = std::max<std::uint64_t>(each.seeds, axis.size());
    axes.checked([&] {
      const std::vector<Cell> cells = cells_of(plain, each);
      if (try_runs) check_smallest(plain, each, cells);
    });
  }
}

/// \param try_runs  also refuse what only a run would refuse
Sweep parse(std::string_view toml, const std::string& source, Scale scale,
            std::span<const StatedExponent> stated, bool try_runs) {
  const TomlDocument document(toml, source);
  TomlTable top = document.root();
  std::vector<std::string> names = spec_names;
  names.insert(names.end(), {"title", "metric", "seeds", "first_seed", "tune", "arm", "part"});
  top.allow(names);

  Sweep sweep;
  sweep.name = source;
  sweep.title = top.at("title").text();
  RunSpec common;
  read_spec(top, scale, common);
  if (top.has("metric")) {
    sweep.metric = top.at("metric").text();
    top.at("metric").checked([&] { check_metric(sweep.metric); });
  }
  const auto seeds_of = [&](const TomlTable& t, const char* key) {
    return static_cast<std::uint64_t>(at_scale(t.at(key), scale).integer(1, most_seeds));
  };
  std::optional<TomlTable> tune;
  if (top.has("tune")) {
    tune = top.at("tune").table();
    sweep.tuning = tuning_of(*tune, scale);
    if (!less_is_better(sweep.metric))
      top.at(top.has("metric") ? "metric" : "tune")
          .fail(
              "settings are chosen by the metric at the top of the file; expected one of points, "
              "of which less is better, as \"output.gradient_norm\"");
  }
  for (const TomlNode& node : top.at("arm").array()) {
    sweep.arms.push_back(arm_of(node, common, scale, std::filesystem::path(source).parent_path()));
    if (tune) tune_arm(node, *tune, scale, sweep.arms.back());
    if (!tune && node.table().has("tune"))
      node.table().at("tune").fail("tune without [tune], which has budget, seeds and space");
    for (std::size_t k = 0; k + 1 < sweep.arms.size(); ++k)
      if (sweep.arms[k].name == sweep.arms.back().name)
        node.fail(fmt::format("two arms are called '{}'", sweep.arms[k].name));
  }
  if (sweep.arms.empty()) top.at("arm").refuse("at least one [[arm]]");
  const auto trials = [](const Arm& arm) { return arm.trials.size(); };
  if (std::ranges::adjacent_find(sweep.arms, std::ranges::not_equal_to{}, trials) ==
      sweep.arms.end())
    sweep.tuning.unequal.clear();
  std::set<std::string> parts;
  for (const TomlNode& node : top.at("part").array()) {
    TomlTable t = node.table();
    t.allow({"name", "arms", "axes", "by_seed", "seeds", "most_seeds", "scales", "fit", "note"});
    Part part;
    part.name = name_of(t);
    t.at("name").checked([&] { check_id("name", part.name); });  // it names files
    if (!parts.insert(part.name).second)
      node.fail(fmt::format("two parts are called '{}'", part.name));
    if (!on_scale(t, scale)) continue;
    part.arms = arms_of(t, sweep);
    part.axes = axes_of(t.at("axes"), scale);
    if (t.has("by_seed")) {
      part.by_seed = axes_of(t.at("by_seed"), scale);
      for (const Axis& axis : part.by_seed)
        for (const auto& [name, unused] : axis.front())
          for (const Axis& moved : part.axes)
            if (coordinate_named(moved.front(), name))
              t.at("by_seed").fail(fmt::format("{} is on an axis of the part, too", name));
    }
    if (std::ranges::any_of(part.arms, [&](std::size_t arm) {
          return reads_own_data(sweep.arms[arm].spec.problem);
        }))
      for (auto* axes : {&part.axes, &part.by_seed})
        name_from(std::filesystem::path(source).parent_path(), *axes);
    part.seeds = seeds_of(t.has("seeds") ? t : top, "seeds");
    if (top.has("first_seed"))
      part.first_seed =
          static_cast<std::uint64_t>(top.at("first_seed").integer(0, most_first_seed));
    if (t.has("most_seeds")) {
      part.most_seeds = seeds_of(t, "most_seeds");
      if (part.most_seeds < part.seeds)
        t.at("most_seeds").refuse(fmt::format("at least the {} seeds of the part", part.seeds));
    }
    if (t.has("note")) part.note = t.at("note").text();
    if (tune) check_apart(node, part, sweep.tuning);
    check_cells(t.at("axes"), sweep, part, try_runs);
    if (t.has("fit"))
      for (const TomlNode& fit : t.at("fit").array())
        part.fits.push_back(fit_of(fit, part, sweep, stated));
    sweep.parts.push_back(std::move(part));
  }
  if (parts.empty()) top.at("part").refuse("at least one [[part]]");
  return sweep;
}

}  // namespace

std::optional<std::string> planned_steps(const RunDescription& run) {
  if (!has_small_data(run)) return {};
  try {
    const auto parameters = scheduled_parameters(run);
    const auto steps = parameters.find("steps");
    return steps == parameters.end() ? std::nullopt : std::optional(steps->second);
  } catch (const InputError&) {
    return {};
  }
}

Sweep parse_sweep(std::string_view toml, const std::string& source, Scale scale,
                  std::span<const StatedExponent> stated) {
  return parse(toml, source, scale, stated, false);
}

Sweep read_sweep(const std::filesystem::path& file, Scale scale,
                 std::span<const StatedExponent> stated) {
  if (const std::string why = why_unreadable(file); !why.empty())
    throw InputError(fmt::format("sweep: {} {}, expected a TOML file", file.string(), why));
  Sweep sweep = parse(read_text(file), file.string(), scale, stated, true);
  sweep.name = file.stem().string();
  return sweep;
}

}  // namespace dpsosp
