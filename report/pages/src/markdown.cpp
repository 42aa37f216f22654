// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <vector>

#include "page_writers.hpp"

namespace dpsosp::report {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void append_word(std::string& text, std::string_view more) {
  if (!text.empty()) text += ' ';
  text += more;
}

/// Text with **bold**, [links](targets) as their text, code and names.
Html inline_html(std::string_view markdown, const Place& place) {
  std::string flat;
  for (std::size_t k = 0; k < markdown.size(); ++k) {
    if (markdown[k] == '[') {
      const std::size_t close = markdown.find("](", k);
      const std::size_t end = close == std::string_view::npos ? close : markdown.find(')', close);
      if (end != std::string_view::npos &&
          markdown.substr(k, close - k).find('\n') == std::string_view::npos) {
        flat += markdown.substr(k + 1, close - k - 1);
        k = end;
        continue;
      }
    }
    flat += markdown[k];
  }
  Html out;
  std::string_view rest = flat;
  for (bool bold = false;; bold = !bold) {
    std::size_t end = rest.find("**");
    if (!bold && end != std::string_view::npos &&
        rest.find("**", end + 2) == std::string_view::npos)
      end = std::string_view::npos;
    const std::string_view piece = rest.substr(0, end);
    out += bold ? element("b", prose(piece, place)) : prose(piece, place);
    if (end == std::string_view::npos) return out;
    rest.remove_prefix(end + 2);
  }
}

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  row = row.substr(1);
  std::size_t start = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] != '|' || (k > 0 && row[k - 1] == '\\')) continue;
    cells.push_back(row.substr(start, k - start));
    start = k + 1;
  }
  return cells;
}

Html table_of(const std::vector<std::string_view>& lines,
              std::set<std::string>& ids,
              const Place& place) {
  Html head, rows;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (k == 1) continue;  // the rule
    Html cells;
    for (std::string_view cell : cells_of(lines[k])) {
      while (cell.starts_with(' ')) cell.remove_prefix(1);
      while (cell.ends_with(' ')) cell.remove_suffix(1);
      Attributes a;
      if (k == 0) a.emplace_back("scope", "col");
      const bool is_id = k > 0 && cells.empty() && cell.size() <= 3;
      if (is_id && ids.insert(std::string(cell)).second) a.emplace_back("id", std::string(cell));
      cells += element(k == 0 ? "th" : "td", a, inline_html(cell, place));
    }
    (k == 0 ? head : rows) += element("tr", cells);
  }
  return element(
      "div",
      {{"class", "tw"}},
      element("table", {{"class", "t errata"}}, element("thead", head) + element("tbody", rows)));
}

}  // namespace

Html markdown_html(std::string_view markdown, const Place& place) {
  const std::vector<std::string_view> lines = lines_of(markdown);
  // Sections of ### right below the title are those of the page.
  const bool has_chapters =
      std::ranges::any_of(lines, [](std::string_view line) { return line.starts_with("## "); });
  const std::size_t deeper = has_chapters ? 0 : 1;
  std::set<std::string> ids;
  Html out;
  for (std::size_t k = 0; k < lines.size();) {
    const std::string_view line = lines[k];
    if (line.empty()) {
      ++k;
      continue;
    }
    if (line.starts_with('#')) {
      const std::size_t level = line.find_first_not_of('#');
      std::string_view title = line.substr(level);
      while (title.starts_with(' ')) title.remove_prefix(1);
      ++k;
      if (level == 1) continue;  // the page's own title
      const std::string id(title.substr(0, title.find(' ')));
      out += element(fmt::format("h{}", level - deeper),
                     level == 3 && id.size() <= 4 && ids.insert(id).second ? Attributes{{"id", id}}
                                                                           : Attributes{},
                     inline_html(title, place));
      continue;
    }
    std::vector<std::string_view> block;
    if (line.starts_with('|')) {
      while (k < lines.size() && lines[k].starts_with('|')) block.push_back(lines[k++]);
      out += table_of(block, ids, place);
      continue;
    }
    if (line.starts_with('>')) {
      std::string quotation;
      while (k < lines.size() && lines[k].starts_with('>')) {
        std::string_view piece = lines[k++].substr(1);
        while (piece.starts_with(' ')) piece.remove_prefix(1);
        append_word(quotation, piece);
      }
      out += element("blockquote", quotation_html(quotation));
      continue;
    }
    if (line.starts_with("- ")) {
      Html items;
      while (k < lines.size() && !lines[k].empty() && !lines[k].starts_with('#')) {
        std::string item(lines[k++].substr(2));
        while (k < lines.size() && lines[k].starts_with("  "))
          append_word(item, lines[k++].substr(2));
        items += element("li", inline_html(item, place));
        if (k < lines.size() && !lines[k].starts_with("- ")) break;
      }
      out += element("ul", items);
      continue;
    }
    std::string paragraph_text;
    while (k < lines.size() && !lines[k].empty() && !lines[k].starts_with('#') &&
           !lines[k].starts_with('|') && !lines[k].starts_with("- ") &&
           !lines[k].starts_with('>')) {
      const std::string_view piece = lines[k++];
      // A part that begins in bold begins a paragraph of its own.
      if (piece.starts_with("**") && !paragraph_text.empty()) {
        out += element("p", inline_html(paragraph_text, place));
        paragraph_text.clear();
      }
      append_word(paragraph_text, piece);
    }
    if (!paragraph_text.empty())
      out += element("p", inline_html(paragraph_text, place));
    else if (k < lines.size() && lines[k] == line)
      ++k;
  }
  return out;
}

}  // namespace dpsosp::report
