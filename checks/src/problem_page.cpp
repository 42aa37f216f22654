// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/checks/problem_page.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/plots/contour.hpp"
#include "dpsosp/plots/drawing.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

constexpr Index page_records = 100;

/// Text inside a table's cell.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\\|");
  return text;
}

struct Chapter {
  std::string group;
  std::vector<std::unique_ptr<ProblemFamily>> families;
};

/// The chapters in the order of their first family.
std::vector<Chapter> chapters() {
  std::vector<Chapter> all;
  for (const ProblemEntry& entry : problem_registry()) {
    auto family = entry.create();
    const std::string group(family->notes().group);
    auto chapter = std::ranges::find(all, group, &Chapter::group);
    if (chapter == all.end()) {
      all.push_back({});
      chapter = all.end() - 1;
      chapter->group = group;
    }
    chapter->families.push_back(std::move(family));
  }
  return all;
}

/// Pictures are of synthetic instances.
std::optional<Slice> slice_of(const ProblemFamily& family) {
  if (!family.missing().empty()) return {};
  return family.make({.records = page_records}).slice;
}

std::string section(ProblemFamily& family) {
  const ProblemNotes notes = family.notes();
  const std::optional<PublicFacts> known = family.known_facts({.records = page_records});
  std::string out = fmt::format("### `{}`\n\n{}\n\n", family.name(), notes.formula);
  out += fmt::format("*Source:* {}.\n\n", notes.source);
  out += fmt::format("*Saddles and minimisers:* {}\n\n", notes.critical_points);
  if (!known) return out + family.missing() + ".\n\n" + settings_table(family.fields()) + '\n';
  const PublicFacts& facts = *known;
  if (const auto slice = slice_of(family))
    out += fmt::format("![{0}: level lines](problems/{0}.svg)\n\n*{1}.*\n\n", family.name(),
                       slice->caption);
  out += fmt::format("Default: d = {}", facts.dimension);
  if (facts.dual_kind != DualKind::none) {
    out += fmt::format(", {} dual", facts.dual_kind == DualKind::shared ? "shared" : "per-record");
    if (facts.dual_kind == DualKind::shared)
      out += fmt::format(" of dimension {}", facts.dual_dimension);
  }
  out +=
      fmt::format(", n = {}, domain: {}.\n\n", family.default_records(), to_string(facts.domain));
  out += "| constant | value | bound | where | why |\n|---|---|---|---|---|\n";
  for (const auto& [name, c] : facts.constants.all())
    out += fmt::format("| {} `{}` | {:.5g} | {} | {} | {} |\n", constant_symbol(name), name,
                       c.value, bound_text(c), cell(c.region), cell(c.proof));
  return out + '\n' + settings_table(family.fields()) + '\n';
}

/// Where a point lies in the plane of a slice; nothing if it does not.
std::optional<plots::MapPoint> in_plane(const Slice& slice, const Landmark& l) {
  Matrix plane(slice.origin.size(), 2);
  plane << slice.along, slice.across;
  const Vector offset = l.point - slice.origin;
  const Vector ab = least_squares(plane, offset);
  if ((plane * ab - offset).norm() > 1e-6 * (1 + offset.norm())) return {};
  const bool inside =
      ab[0] >= slice.a_from && ab[0] <= slice.a_to && ab[1] >= slice.b_from && ab[1] <= slice.b_to;
  if (!inside) return {};
  return plots::MapPoint{std::string(to_string(l.kind)),
                         l.kind == Landmark::Kind::minimiser ? 0U : 1U, ab[0], ab[1]};
}

plots::ContourMap picture(const ProblemFamily& family, Index points) {
  const Problem p = family.make({.records = page_records});
  const Slice& slice = *p.slice;
  const Objective& F = p.population ? *p.population : *p.empirical;
  plots::ContourMap map{.id = std::string(family.name()),
                        .title = slice.caption,
                        .x_label = slice.along_label,
                        .y_label = slice.across_label,
                        .x = Vector::LinSpaced(points, slice.a_from, slice.a_to),
                        .y = Vector::LinSpaced(points, slice.b_from, slice.b_to),
                        .values = Matrix(points, points),
                        .points = {}};
  for (Index i = 0; i < points; ++i)
    for (Index j = 0; j < points; ++j)
      map.values(i, j) = F.value(slice.origin + map.x[j] * slice.along + map.y[i] * slice.across);
  const auto of = p.population ? Landmark::Of::population : Landmark::Of::empirical;
  for (const Landmark& l : p.landmarks)
    if (l.of == of)
      if (const auto point = in_plane(slice, l)) map.points.push_back(*point);
  return map;
}

/// A panel as dpsosp.draw takes it.
nlohmann::json panel_of(const plots::ContourMap& map) {
  const auto rounded = [](double v) { return std::stod(fmt::format("{:.9g}", v)); };
  nlohmann::json x, y, values, points = nlohmann::json::array();
  for (const double v : map.x) x.push_back(rounded(v));
  for (Index i = 0; i < map.y.size(); ++i) {
    y.push_back(rounded(map.y[i]));
    nlohmann::json row;
    for (Index j = 0; j < map.x.size(); ++j) row.push_back(rounded(map.values(i, j)));
    values.push_back(std::move(row));
  }
  for (const plots::MapPoint& p : map.points)
    points.push_back({{"label", p.label}, {"style", p.style}, {"x", p.x}, {"y", p.y}});
  return {{"kind", "contour"},
          {"of", {{"x", std::move(x)}, {"y", std::move(y)}, {"values", std::move(values)}}},
          {"labels", {map.x_label, map.y_label}},
          {"points", std::move(points)}};
}

}  // namespace

std::string settings_table(const Fields& fields) {
  std::string out = "| setting | default | range | meaning |\n|---|---|---|---|\n";
  for (const Field& f : fields)
    out += fmt::format("| `{}` | {} | {} | {} |\n", f.name, f.get(), f.range, cell(f.meaning));
  return out;
}

std::string_view constant_symbol(std::string_view name) {
  static const std::map<std::string_view, std::string_view> symbols{
      {constant::lipschitz, "G"},         {constant::smoothness, "M"},
      {constant::hessian_lipschitz, "ρ"}, {constant::suboptimality, "B"},
      {constant::joint_smoothness, "L"},  {constant::strong_concavity, "μ"},
      {constant::quasar_convexity, "q"},  {constant::pl, "μ"},
      {constant::kl_gamma, "γ"},          {constant::kl_exponent, "k"}};
  const auto found = symbols.find(name);
  return found == symbols.end() ? std::string_view{} : found->second;
}

std::string bound_text(const Constant& c) {
  if (c.origin != Origin::proved) return std::string(to_string(c.origin));
  if (c.tight()) return "proved, tight";
  return fmt::format("proved, loose: the largest value found is {:.3g} of it", c.attained);
}

std::optional<plots::ContourMap> problem_picture(const ProblemFamily& family, Index points) {
  if (!slice_of(family)) return {};
  return picture(family, points);
}

std::string problem_table() {
  std::string out =
      "# Problems\n\n"
      "Written by `dpsosp list problems --document docs` from the code. `./run site` makes a page "
      "for each, with formula,\nsaddles, settings, and every constant with its proof.\n\n"
      "| problem | chapter | d | what it is |\n|---|---|---|---|\n";
  for (const auto& [group, families] : chapters())
    for (const auto& family : families)
      out += fmt::format("| `{}` | {} | {} | {} |\n", family->name(), group,
                         family->facts({.records = page_records}).dimension,
                         cell(std::string(family->summary())));
  return out;
}

std::string problem_page() {
  std::string out =
      "# The problem zoo\n\n"
      "Adjacency is replace-one. `lipschitz`, `smoothness` and `hessian_lipschitz` bound every "
      "record's own loss, for minimax problems the last two the value function Φ. A *proved* "
      "constant bounds every record that the family admits, on the stated region; `dpsosp check` "
      "attacks it by random points, corners and ascent on the violation. *Tight*: the search "
      "reaches at least 95 % of it; *loose*: the share it reaches is stated. A *clipped* constant "
      "is enforced by the curator; an *estimated* one is a calculation and never makes a promise. "
      "Level lines in the pictures lie at quantiles of the values.\n\n";
  for (const auto& [group, families] : chapters()) {
    out += fmt::format("## {}\n\n", group);
    for (const auto& family : families) out += section(*family);
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::vector<fs::path> write_problem_page(const fs::path& folder) {
  const fs::path pictures = folder / "problems", described = folder / ".pictures.json";
  ensure_writable_folder(pictures);
  std::vector<fs::path> written;
  nlohmann::json figures = nlohmann::json::array();
  for (const ProblemEntry& entry : problem_registry()) {
    const auto family = entry.create();
    const auto map = problem_picture(*family, 91);
    if (!map) continue;
    written.push_back(pictures / (map->id + ".svg"));
    figures.push_back({{"id", map->id},
                       {"title", map->title},
                       {"panels", {panel_of(*map)}},
                       {"to", {fmt::format("problems/{}.svg", map->id)}}});
  }
  write_file(described, nlohmann::json{{"figures", std::move(figures)}}.dump());
  const std::vector<std::string> reasons = plots::draw({described.string(), "--cache", "none"});
  fs::remove(described);
  if (!reasons.empty()) throw InputError(reasons.front());
  const fs::path reference = folder / "reference";
  ensure_writable_folder(reference);
  write_file(folder / "problems.md", problem_table());
  write_file(reference / "problems.md", problem_page());
  written.push_back(folder / "problems.md");
  written.push_back(reference / "problems.md");
  return written;
}

}  // namespace dpsosp
