// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/files.hpp"
#include "dpsosp/plots/drawing.hpp"
#include "dpsosp/plots/figure.hpp"
#include "dpsosp/plots/markup.hpp"
#include "dpsosp/report/contents.hpp"

namespace dpsosp::report {
namespace {

constexpr std::string_view preamble = R"(\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,margin=2cm]{geometry}
\usepackage{amsmath,amssymb,textcomp}
\usepackage{booktabs,graphicx}
\begin{document}
)";

/// LaTeX keeps so many floats in mind before it must have placed some.
constexpr std::size_t floats_at_a_time = 8;

}  // namespace

std::filesystem::path write_paper(const Site& site, const std::filesystem::path& folder,
                                  const WriteOptions& options) {
  ensure_writable_folder(folder);
  std::string paper(preamble);
  std::vector<std::filesystem::path> descriptions;
  std::size_t floats = 0;
  const auto placed = [&] {
    if (++floats % floats_at_a_time == 0) paper += "\\clearpage\n";
  };
  for (const ExhibitPage& e : site.exhibits) {
    const std::filesystem::path place = folder / e.folder;
    ensure_writable_folder(place);
    if (!e.figures.empty()) {
      descriptions.push_back(place / "figures.json");
      write_file(descriptions.back(), description_json(e, site).dump());
    }
    paper += fmt::format("\\section{{{}}}\n{}\n", plots::latex_text(e.title),
                         plots::latex_text(e.finding));
    for (const plots::Figure& f : e.figures) {
      paper += fmt::format(
          "\\begin{{figure}}\n\\centering\n\\includegraphics[width=\\textwidth]{{{0}/{1}.pdf}}\n"
          "\\caption{{\\textbf{{{2}}} {3}}}\n\\label{{fig:{0}:{1}}}\n\\end{{figure}}\n",
          e.folder, f.id, plots::latex_text(f.title), plots::latex_text(f.caption));
      placed();
    }
    for (const auto* tables : {&e.tables, &e.details})
      for (const plots::Table& t : *tables) {
        write_file(place / (t.id + ".tex"), plots::to_latex(t));
        paper += fmt::format("\\input{{{}/{}.tex}}\n", e.folder, t.id);
        placed();
      }
  }
  paper += "\\end{document}\n";
  write_file(folder / "paper.tex", paper);
  for (const std::string& line : plots::draw_figures(descriptions, {"pdf"}))
    if (options.notice) options.notice(line);
  return folder / "paper.tex";
}

}  // namespace dpsosp::report
