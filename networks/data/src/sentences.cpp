// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/sentences.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "text_lines.hpp"

namespace dpsosp::networks {
namespace {

/// The text between tabs.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t tab = 0; (tab = line.find('\t')) != std::string_view::npos;) {
    cells.push_back(line.substr(0, tab));
    line.remove_prefix(tab + 1);
  }
  cells.push_back(line);
  return cells;
}

Sentence sentence_of(const std::string& where, std::string_view line) {
  const std::vector<std::string_view> cells = cells_of(line);
  if (cells.size() != 4)
    throw InputError(
        fmt::format("{}: {} columns, expected 4 between tabs: source, label, mark, sentence", where,
                    cells.size()));
  if (cells[1] != "0" && cells[1] != "1")
    reject(where, "label", fmt::format("'{}'", cells[1]), "0 or 1");
  if (cells[3].empty()) throw InputError(fmt::format("{}: the sentence is empty", where));
  return {.source = std::string(cells[0]),
          .label = cells[1] == "1" ? 1 : 0,
          .mark = std::string(cells[2]),
          .text = std::string(cells[3])};
}

}  // namespace

std::vector<Sentence> read_sentences(const std::filesystem::path& file) {
  std::vector<Sentence> sentences;
  const std::string text = read_file(file);
  for (const std::string_view line : text_lines(file.string(), text))
    sentences.push_back(
        sentence_of(fmt::format("{}, line {}", file.string(), sentences.size() + 1), line));
  if (sentences.empty()) throw InputError(fmt::format("{}: is empty", file.string()));
  return sentences;
}

Cola read_cola(const std::filesystem::path& folder) {
  const std::filesystem::path raw = folder / "cola_public/raw";
  const auto read = [&](std::string_view name) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(raw / name, ignored))
      throw InputError(
          fmt::format("needs data: {} is missing; put in_domain_train.tsv, in_domain_dev.tsv and "
                      "out_of_domain_dev.tsv of CoLA's public release into {}",
                      (raw / name).string(), raw.string()));
    return read_sentences(raw / name);
  };
  return {.train = read("in_domain_train.tsv"),
          .in_domain = read("in_domain_dev.tsv"),
          .out_of_domain = read("out_of_domain_dev.tsv")};
}

}  // namespace dpsosp::networks
