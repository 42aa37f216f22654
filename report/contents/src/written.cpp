// SPDX-License-Identifier: Apache-2.0
#include "written.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "contents_texts.hpp"
#include "dpsosp/experiments/toml_reader.hpp"
#include "dpsosp/report/contents.hpp"

namespace dpsosp::report {
namespace {

std::string number(double v) { return fmt::format("{}{:.3f}", v < 0 ? "−" : "+", std::abs(v)); }

}  // namespace

std::string filled(const std::string& sentence, const Stored& stored) {
  static const std::regex place(R"(\{([^ {}]+/[^ {}]+) ([^ {}]+)(?: ([^{}]+))?\})");
  std::string out;
  auto from = sentence.cbegin();
  for (std::smatch found; std::regex_search(from, sentence.cend(), found, place);
       from = found.suffix().first) {
    const auto rate = std::ranges::find_if(stored.rates(), [&](const Rate& r) {
      return r.claim == found[1].str() && r.axis == found[2].str() &&
             (!found[3].matched || r.arm == found[3].str()) && r.value;
    });
    if (rate == stored.rates().end()) return {};
    out += found.prefix().str() +
           fmt::format("{} [{}, {}]", number(*rate->value), number(rate->low), number(rate->high));
  }
  return out + std::string(from, sentence.cend());
}

bool has_word(const Stored& stored, std::string_view claim, std::string_view word) {
  const std::vector<Claim>& claims = stored.claims().claims;
  const auto found = std::ranges::find(claims, claim, &Claim::id);
  return found != claims.end() &&
         to_string(stored.findings()[static_cast<std::size_t>(found - claims.begin())].headline) ==
             word;
}

std::vector<WrittenFinding> written_findings() {
  std::vector<WrittenFinding> list;
  const TomlDocument document(findings_toml(), "findings.toml");
  for (const TomlNode& node : document.root().at("finding").array()) {
    const TomlTable t = node.table();
    t.allow({"sentence", "text", "words", "rates", "exhibit", "figure", "panel", "commands"});
    WrittenFinding f{.sentence = t.at("sentence").text(), .text = t.at("text").text()};
    for (const auto& [claim, word] : t.at("words").table().entries())
      f.words.emplace_back(claim, word.text());
    f.rates = t.has("rates") && t.at("rates").boolean();
    if (t.has("figure")) {
      f.exhibit = t.at("exhibit").text();
      f.figure = t.at("figure").text();
      f.panel = static_cast<std::size_t>(t.at("panel").number());
    }
    for (const TomlNode& command : t.at("commands").array()) f.commands.push_back(command.text());
    list.push_back(std::move(f));
  }
  return list;
}

std::string findings_page() {
  const TomlDocument document(findings_toml(), "findings.toml");
  std::string page = "# Findings\n\n" + document.root().at("head").text();
  int number = 0;
  for (const WrittenFinding& f : written_findings()) {
    page += fmt::format("\n**{}. {}**\n\n{}", ++number, f.sentence, f.text);
    for (const std::string& command : f.commands)
      page += fmt::format("{}    {}\n", command == f.commands.front() ? "\n" : "", command);
  }
  return page + "\n" + document.root().at("end").text();
}

std::vector<std::string> summaries_of(const Stored& stored, std::string_view exhibit) {
  std::vector<std::string> list;
  const TomlDocument document(findings_toml(), "findings.toml");
  for (const TomlNode& node : document.root().at("summary").array()) {
    const TomlTable t = node.table();
    t.allow({"exhibit", "sentence", "words"});
    if (t.at("exhibit").text() != exhibit) continue;
    if (!std::ranges::all_of(t.at("words").table().entries(), [&](const auto& entry) {
          return has_word(stored, entry.first, entry.second.text());
        }))
      continue;
    if (std::string text = filled(t.at("sentence").text(), stored); !text.empty())
      list.push_back(std::move(text));
  }
  return list;
}

}  // namespace dpsosp::report
