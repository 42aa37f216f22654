// SPDX-License-Identifier: Apache-2.0
#include "publications.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "contents_texts.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/toml_reader.hpp"

namespace dpsosp::report {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

bool is_numbered(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string::npos && std::isdigit(static_cast<unsigned char>(line[first])) != 0 &&
         line.find("  ", first) != std::string::npos;
}

/// The blocks of code under a heading that begins with the number, up to the next heading.
std::vector<PseudoCode> blocks_under(std::string_view markdown, const std::string& number) {
  std::vector<PseudoCode> blocks;
  std::string heading;
  bool inside = false, fenced = false;
  const auto end_block = [&] {
    if (inside && std::ranges::none_of(blocks.back().lines, is_numbered)) blocks.pop_back();
    inside = false;
  };
  const auto add = [&](std::string line) {
    if (!inside) blocks.push_back({.heading = heading});
    inside = true;
    blocks.back().lines.push_back(std::move(line));
  };
  for (const std::string& line : lines_of(markdown)) {
    if (!fenced && line.starts_with("#")) {
      end_block();
      const std::string title = line.substr(line.find_first_not_of("# "));
      const std::string begin = title.substr(0, title.find(' '));
      heading = begin == number || begin == number + "." ? title : "";
    } else if (heading.empty()) {
      continue;
    } else if (line.starts_with("```")) {
      fenced = !fenced;
      end_block();
    } else if (fenced) {
      add(line);
    } else if (line.starts_with("    ")) {
      add(line.substr(4));
    } else {
      end_block();
    }
  }
  end_block();
  return blocks;
}

/// The value of a key at the top of CITATION.cff.
std::string cited(std::string_view key) {
  const std::string begin = fmt::format("{}: ", key);
  for (const std::string& line : lines_of(citation_cff()))
    if (line.starts_with(begin)) {
      const std::string value = line.substr(begin.size());
      return value.starts_with('"') ? value.substr(1, value.rfind('"') - 1) : value;
    }
  return {};
}

/// Its authors: persons, and entities in braces, which BibTeX takes whole.
std::string cited_authors() {
  static const std::regex person(R"(family-names: (.*?), given-names: (.*?)\})");
  static const std::regex entity(R"re(- name: "(.*)")re");
  std::string authors;
  bool inside = false;
  for (const std::string& line : lines_of(citation_cff())) {
    if (!line.starts_with(' ')) inside = line == "authors:";
    std::smatch found;
    std::string author;
    if (inside && std::regex_search(line, found, person))
      author = fmt::format("{}, {}", found[1].str(), found[2].str());
    else if (inside && std::regex_search(line, found, entity))
      author = fmt::format("{{{}}}", found[1].str());
    if (!author.empty()) authors += (authors.empty() ? "" : " and ") + author;
  }
  return authors;
}

std::vector<std::string> texts(const TomlNode& list) {
  std::vector<std::string> all;
  for (const TomlNode& node : list.array()) all.push_back(node.text());
  return all;
}

}  // namespace

std::string bibtex_of(std::string_view key) {
  const std::string_view all = publications_bib();
  const std::size_t begin = all.find(fmt::format("@misc{{{},\n", key));
  if (begin == std::string_view::npos) return {};
  return std::string(all.substr(begin, all.find("\n}", begin) + 2 - begin));
}

std::string bibtex_of_report(std::string_view scale) {
  const Build& build = provenance().build;
  std::string commit = cited("commit");
  if (commit.starts_with('$')) {  // no archive
    const char* of_checkout = std::getenv("DPSOSP_COMMIT");
    commit = of_checkout == nullptr ? "" : of_checkout;
  }
  std::string note = fmt::format("Report at scale {}", scale);
  if (!commit.empty()) note += fmt::format("; commit {}", commit);
  if (!build.binary.empty()) note += fmt::format("; program with SHA-256 {}", build.binary);
  const std::string address = cited("repository-code");
  std::string entry = fmt::format(
      "@software{{dpsosp,\n  author = {{{}}},\n  title = {{{{{}}}}},\n  version = {{{}}},\n",
      cited_authors(), cited("title"), build.program_version);
  if (address.find(".invalid/") == std::string::npos)
    entry += fmt::format("  url = {{{}}},\n", address);
  return entry + fmt::format("  year = {{{}}},\n  note = {{{}}}\n}}",
                             cited("date-released").substr(0, 4), note);
}

std::vector<PseudoCode> pseudocode_of(std::string_view algorithm) {
  std::vector<PseudoCode> all;
  const TomlDocument document(pseudocode_toml(), "pseudocode.toml");
  for (const TomlNode& node : document.root().at("pseudocode").array()) {
    const TomlTable t = node.table();
    t.allow({"algorithms", "sections", "with"});
    if (!std::ranges::count(texts(t.at("algorithms")), algorithm)) continue;
    const std::string with = t.has("with") ? t.at("with").text() : "";
    for (const TomlNode& section : t.at("sections").array()) {
      const std::string place = section.text();
      constexpr std::string_view between = " notes, ";
      const std::size_t comma = place.find(between);
      if (comma == std::string::npos) section.refuse("KEY notes, NUMBER");
      const std::string page = place.substr(0, comma);
      const std::size_t before = all.size();
      for (const auto& [key, markdown] : notes_texts()) {
        if (key != page) continue;
        for (PseudoCode& block : blocks_under(markdown, place.substr(comma + between.size()))) {
          const auto has_text = [&](const std::string& line) {
            return line.find(with) != std::string::npos;
          };
          if (std::ranges::none_of(block.lines, has_text)) continue;
          block.source = fmt::format("docs/papers/{}.md", page);
          all.push_back(std::move(block));
        }
      }
      if (all.size() == before) section.fail("no numbered block in " + place);
    }
  }
  return all;
}

std::vector<std::string> algorithms_with_pseudocode() {
  std::vector<std::string> all;
  const TomlDocument document(pseudocode_toml(), "pseudocode.toml");
  for (const TomlNode& node : document.root().at("pseudocode").array())
    for (std::string& key : texts(node.table().at("algorithms"))) all.push_back(std::move(key));
  return all;
}

}  // namespace dpsosp::report
