// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "chart.hpp"
#include "page_writers.hpp"
#include "table_html.hpp"

namespace dpsosp::report {
namespace {

using FileKind = std::pair<const char*, const char*>;  ///< ending, name

Html file_links(const std::string& id, const std::vector<FileKind>& kinds) {
  Html out;
  for (const auto& [ending, name] : kinds)
    out += text(out.empty() ? " " : ", ") +
           element("a", {{"href", fmt::format("{}.{}", id, ending)}, {"download", ""}}, text(name));
  return element("span", {{"class", "files"}}, text(" Download:") + out + text("."));
}

Html with_files(const plots::Table& table, const Place& place) {
  Html tools = file_links(table.id, {{"csv", "CSV"}, {"tex", "LaTeX"}, {"md", "Markdown"}});
  if (!table.sweep.empty()) tools += command_box(fmt::format("./run dpsosp sweep {}", table.sweep));
  return table_html(table, place) + element("div", {{"class", "tools small"}}, tools);
}

std::size_t row_count(const plots::Table& table) {
  std::size_t rows = 0;
  for (const plots::RowGroup& g : table.row_groups) rows += g.rows.size();
  return rows;
}

}  // namespace

std::string address_of(const ExhibitPage& page) {
  return page.folder.empty() ? "index.html" : page.folder + "/index.html";
}

std::string drawing_of(const ExhibitPage& page, const plots::Figure& figure) {
  return page.folder.empty() ? figure.id : fmt::format("{}/{}", page.folder, figure.id);
}

std::string exhibit_html(const ExhibitPage& e, const Site& site) {
  const Place place{site, address_of(e)};
  Html body;
  if (!e.folder.empty()) {
    const std::string paper = place.address_of(e.paper_key);
    const Html crumb = link_to("index.html", "Summary", place) + text(" / ") +
                       (paper.empty() ? plain(e.paper) : link_to(paper, e.paper, place));
    body = element("p", {{"class", "crumb"}}, crumb + text(" / ") + plain(e.title));
  }
  body +=
      element("h1", plain(e.finding.empty() ? e.title : fmt::format("{}: {}", e.title, e.finding)));
  for (const std::string& n : e.notice) body += paragraph(n, place, "warning");
  for (const std::string& p : e.summary)
    body += element("div", {{"class", "verdict"}}, paragraph(p, place));
  for (const std::string& p : e.paper_says) body += paragraph(p, place, "lead");
  if (!e.forest.empty())
    body += element("section",
                    heading(2, "Claimed and measured", "section-exponents") +
                        paragraph(forest_legend, place, "small") +
                        forest_html(e.forest, place, "forest"));
  const auto sweep_of = [](const plots::Figure& f) -> std::string {
    return f.panels.empty() ? "" : f.panels.front().origin.sweep;
  };
  const auto figure = [&](const plots::Figure& f) {
    const std::string drawing = drawing_of(e, f);
    std::vector<FileKind> drawn;
    for (const FileKind& kind : {FileKind{"svg", "SVG"}, FileKind{"pdf", "PDF"}})
      if (site.drawn.contains(fmt::format("{}.{}", drawing, kind.first))) drawn.push_back(kind);
    Html below = drawn.empty() ? Html() : file_links(f.id, drawn);
    // A page alone is of one sweep, whose command it has below.
    if (const std::string sweep = sweep_of(f); !sweep.empty() && !e.folder.empty())
      below += command_box(fmt::format("./run dpsosp sweep {}", sweep));
    return figure_html(f, e.rates, drawing, place, below);
  };
  constexpr std::size_t most_shown = 2;  // beside other exhibits; a page alone shows all
  const std::size_t shown_figures =
      e.folder.empty() ? e.figures.size() : std::min(most_shown, e.figures.size());
  for (std::size_t k = 0; k < shown_figures; ++k) body += figure(e.figures[k]);
  Html tables;
  for (const plots::Table& t : e.tables) tables += with_files(t, place);
  if (!tables.empty())
    body +=
        element("section",
                heading(2, e.tables.size() == 1 ? "Table" : "Tables", "section-tables") + tables);
  if (e.figures.size() > shown_figures) {
    Html more;
    for (std::size_t k = shown_figures; k < e.figures.size(); ++k) more += figure(e.figures[k]);
    body += element("section", heading(2, "More figures", "section-figures") + more);
  }
  if (!e.differences.empty())
    body += element("section",
                    heading(2, "Where this differs from the paper", "section-differences") +
                        paragraphs(e.differences, place));
  if (!e.details.empty()) {
    Html folds;
    for (const plots::Table& t : e.details)
      folds += fold(t.title.empty() ? t.id : t.title,
                    fmt::format("{} rows", row_count(t)),
                    with_files(t, place));
    body += element("section", heading(2, "Details", "section-details") + folds);
  }
  Html claims;
  for (const std::string& id : e.claims)
    claims += text(claims.empty() ? "" : ", ") + claim_link(id, place);
  if (!e.claims.empty())
    body +=
        element("section",
                heading(2, "Claims that its runs answer", "section-claims") + element("p", claims));
  Html commands;
  for (const Command& c : e.commands)
    commands += element("tr",
                        element("th", {{"scope", "row"}}, prose(c.what, place)) +
                            element("td", command_box(c.command)));
  body += element("section",
                  heading(2, "Commands", "section-commands") +
                      element("div",
                              {{"class", "tw"}},
                              element("table", {{"class", "t"}}, element("tbody", commands))));
  Html files;
  for (const auto& [label, name] : e.files)
    files += element("li", element("a", {{"href", name}}, plain(label)));
  if (!files.empty())
    body += element("section", heading(2, "Files", "section-files") + element("ul", files));
  return report::page(place, "Exhibits", e.title, body);
}

}  // namespace dpsosp::report
