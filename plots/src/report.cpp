// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/report.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/plots/markup.hpp"
#include "label_html.hpp"
#include "style.hpp"

namespace dpsosp::plots {
namespace {

namespace fs = std::filesystem;

std::string page(const std::string& title, std::string_view style, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<link rel=\"stylesheet\" "
      "href=\"{}\">\n</head>\n<body>\n{}</body>\n</html>\n",
      html_attribute(title),
      style,
      body);
}

std::string paragraphs(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += fmt::format("<p>{}</p>\n", html_text(text));
  return out;
}

std::string section(std::string_view heading, const std::string& content) {
  return content.empty() ? ""
                         : fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", heading, content);
}

// A relative link; characters of a file name that are special in a URL are encoded.
std::string address(const std::string& file) {
  std::string out;
  for (const char c : file) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-_.~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

struct Format {
  std::string_view ending;
  std::string_view name;
};

constexpr Format table_formats[] = {{"md", "Markdown"}, {"tex", "LaTeX"}, {"csv", "CSV"}};
constexpr Format figure_formats[] = {
    {"svg", "SVG"}, {"pdf", "PDF"}, {"png", "PNG"}, {"gp", "gnuplot script"}, {"dat", "data"}};

std::string file_links(const std::string& id, std::span<const Format> formats) {
  std::string out = "<p class=\"files\"><span>Download</span>";
  for (const Format& format : formats)
    out += fmt::format("\n<a href=\"{}.{}\" download>{}</a>", id, format.ending, format.name);
  return out + "</p>\n";
}

std::string figure_html(const Figure& figure) {
  return fmt::format(
      "<figure id=\"{0}\">\n<a class=\"zoom\" href=\"{0}.svg\" title=\"Full size\">"
      "<img src=\"{0}.svg\" alt=\"{1}\"></a>\n"
      "<figcaption><p><strong>{2}</strong>{3}{4}</p></figcaption>\n{5}</figure>\n",
      figure.id,
      html_attribute(alternative_text(figure)),
      html_text(figure.title),
      figure.caption.empty() ? "" : " ",
      html_text(figure.caption),
      file_links(figure.id, figure_formats));
}

std::string tables_html(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& table : tables) {
    std::string html = to_html(table);
    html.insert(html.rfind("</figure>"), file_links(table.id, table_formats));
    out += html;
  }
  return out;
}

std::string attachment_list(const std::vector<Attachment>& attachments) {
  if (attachments.empty()) return {};
  std::string out = "<ul>\n";
  for (const Attachment& a : attachments) {
    out += fmt::format("<li><a href=\"{}\">{}</a></li>\n",
                       address(a.file.filename().string()),
                       html_text(a.label));
  }
  return out + "</ul>\n";
}

std::string neighbour_link(const Report& report, std::size_t k, std::string_view relation) {
  return fmt::format("<a href=\"../{}/index.html\">{}: {}</a>\n",
                     report.exhibits[k].id,
                     relation,
                     html_text(report.exhibits[k].title));
}

std::string exhibit_page(const Report& report, std::size_t k) {
  const Exhibit& e = report.exhibits[k];
  std::string nav = "<nav aria-label=\"Report\">\n<a href=\"../index.html\">Overview</a>\n";
  if (k > 0) nav += neighbour_link(report, k - 1, "Previous");
  if (k + 1 < report.exhibits.size()) nav += neighbour_link(report, k + 1, "Next");
  nav += "</nav>\n";
  std::string body = fmt::format(
      "<header>\n{}<h1>{}</h1>\n<p class=\"paper\">{}</p>\n<p "
      "class=\"verdict\">{}</p>\n</header>\n<main>\n",
      nav,
      html_text(e.title),
      html_text(e.paper),
      label_html(e.verdict));
  body += paragraphs(e.notice);
  body += section("What the paper says", paragraphs(e.paper_says));
  body += section("Where this differs, and why", paragraphs(e.differences));
  const std::string tables = tables_html(e.tables);
  std::string figures;
  for (const Figure& figure : e.figures) figures += figure_html(figure);
  body += section(e.tables.size() == 1 ? "Table" : "Tables", tables);
  body += section(e.figures.size() == 1 ? "Figure" : "Figures", figures);
  body += section("Files", attachment_list(e.attachments));
  body +=
      "</main>\n<footer>\n<p><a href=\"../index.html#provenance\">How these results were "
      "made</a></p>\n</footer>\n";
  return page(plain_text(e.title) + " – " + plain_text(report.title), "../style.css", body);
}

std::string text_page(const Report& report, const Exhibit& e, std::size_t k) {
  const Page& p = e.pages[k];
  std::string nav = fmt::format(
      "<nav aria-label=\"Report\">\n<a href=\"../index.html\">Overview</a>\n<a "
      "href=\"index.html\">{}</a>\n",
      html_text(e.title));
  const auto neighbour = [&](std::size_t other, std::string_view relation) {
    nav += fmt::format("<a href=\"{}.html\">{}: {}</a>\n",
                       e.pages[other].id,
                       relation,
                       html_text(e.pages[other].title));
  };
  if (k > 0) neighbour(k - 1, "Previous");
  if (k + 1 < e.pages.size()) neighbour(k + 1, "Next");
  std::string body = fmt::format(
      "<header>\n{}</nav>\n<h1>{}</h1>\n<p class=\"paper\">{}</p>\n<p "
      "class=\"verdict\">{}</p>\n</header>\n<main>\n",
      nav,
      html_text(p.title),
      html_text(p.subtitle),
      label_html(p.verdict));
  for (const Page::Section& s : p.sections) body += section(s.heading, paragraphs(s.paragraphs));
  return page(
      plain_text(p.title) + " – " + plain_text(report.title), "../style.css", body + "</main>\n");
}

std::string card(const Exhibit& e) {
  std::string out = fmt::format("<li>\n<h3><a href=\"{}/index.html\">{}</a></h3>\n<p>{}</p>\n",
                                e.id,
                                html_text(e.title),
                                label_html(e.verdict));
  if (!e.figures.empty())
    out +=
        fmt::format("<img src=\"{}/{}.svg\" alt=\"\" loading=\"lazy\">\n", e.id, e.figures[0].id);
  return out + "</li>\n";
}

std::string overview(const Report& report) {
  std::string body = fmt::format("<header>\n<h1>{}</h1>\n{}</header>\n<main>\n",
                                 html_text(report.title),
                                 paragraphs(report.introduction));
  body += section("Summary", tables_html(report.summary));
  std::vector<std::string> papers;
  for (const Exhibit& e : report.exhibits)
    if (std::ranges::find(papers, e.paper) == papers.end()) papers.push_back(e.paper);
  for (const std::string& paper : papers) {
    std::string cards;
    for (const Exhibit& e : report.exhibits)
      if (e.paper == paper) cards += card(e);
    body += section(html_text(paper), "<ul class=\"cards\">\n" + cards + "</ul>\n");
  }
  std::string facts;
  for (const auto& [name, value] : report.provenance)
    facts += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(value));
  body += "<section id=\"provenance\">\n<h2>How these results were made</h2>\n";
  body += facts.empty() ? "<p>Nothing was recorded.</p>\n" : "<dl>\n" + facts + "</dl>\n";
  body += attachment_list(report.attachments);
  return page(report.title, "style.css", body + "</section>\n</main>\n");
}

void claim(std::set<std::string>& taken, const std::string& where, const std::string& name) {
  if (!taken.insert(name).second) reject(where, "file", "'" + name + "'", "a name of its own");
}

void check_tables(const std::vector<Table>& tables,
                  const std::string& where,
                  std::set<std::string>& anchors,
                  std::set<std::string>& taken) {
  for (const Table& table : tables) {
    check(table);
    claim(anchors, where, table.id);
    for (const Format& f : table_formats)
      claim(taken, where, fmt::format("{}.{}", table.id, f.ending));
  }
}

void check_attachments(const std::vector<Attachment>& attachments,
                       const std::string& where,
                       std::set<std::string>& taken) {
  for (const Attachment& a : attachments) {
    if (!a.content && !fs::is_regular_file(a.file))
      reject(where, "attachment", a.file.string(), "an existing file");
    claim(taken, where, a.file.filename().string());
  }
}

// All checks that can be made before the first file is written.
void check_exhibit(const Exhibit& e) {
  check_id("exhibit", e.id);
  const std::string where = fmt::format("exhibit '{}'", e.id);
  std::set<std::string> taken{"index.html"};
  std::set<std::string> anchors;
  check_tables(e.tables, where, anchors, taken);
  for (const Figure& figure : e.figures) {
    check(figure);
    claim(anchors, where, figure.id);
    for (const Format& f : figure_formats)
      claim(taken, where, fmt::format("{}.{}", figure.id, f.ending));
  }
  check_attachments(e.attachments, where, taken);
  for (const Page& p : e.pages) {
    check_id("page", p.id);
    claim(taken, where, p.id + ".html");
  }
}

void write_tables(const std::vector<Table>& tables, const fs::path& folder) {
  for (const Table& table : tables) {
    write_file(folder / (table.id + ".md"), to_markdown(table));
    write_file(folder / (table.id + ".tex"), to_latex(table));
    write_file(folder / (table.id + ".csv"), to_csv(table));
  }
}

void write_attachments(const std::vector<Attachment>& attachments, const fs::path& folder) {
  for (const Attachment& a : attachments)
    write_file(folder / a.file.filename(), a.content ? *a.content : read_file(a.file));
}

void write_exhibit(const Exhibit& e, const fs::path& folder, const std::string& gnuplot) {
  write_tables(e.tables, folder);
  for (const Figure& figure : e.figures) write_figure(figure, folder, gnuplot);
  write_attachments(e.attachments, folder);
}

}  // namespace

fs::path write_report(const Report& report, const fs::path& folder, const std::string& gnuplot) {
  std::set<std::string> names{"index.html", "style.css"};
  std::set<std::string> anchors{"provenance"};
  for (const Exhibit& e : report.exhibits) {
    check_exhibit(e);
    claim(names, "report", e.id);
  }
  check_tables(report.summary, "report", anchors, names);
  check_attachments(report.attachments, "report", names);
  ensure_writable_folder(folder);
  for (std::size_t k = 0; k < report.exhibits.size(); ++k) {
    const fs::path place = folder / report.exhibits[k].id;
    ensure_writable_folder(place);
    write_exhibit(report.exhibits[k], place, gnuplot);
    for (std::size_t p = 0; p < report.exhibits[k].pages.size(); ++p)
      write_file(place / (report.exhibits[k].pages[p].id + ".html"),
                 text_page(report, report.exhibits[k], p));
    write_file(place / "index.html", exhibit_page(report, k));
  }
  write_tables(report.summary, folder);
  write_attachments(report.attachments, folder);
  write_file(folder / "style.css", style_sheet());
  write_file(folder / "index.html", overview(report));  // last, since it links to the others
  return folder / "index.html";
}

}  // namespace dpsosp::plots
