// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/claims/texts.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {

/// What the page of an exhibit says, from the exhibits.toml of its reproduction: its [[exhibit]],
/// after [every], the words that all exhibits of the file have.
struct ExhibitText {
  std::string id;       ///< "xu-2026/table-2"
  std::string title;    ///< in lists
  std::string heading;  ///< of the page
  std::string paper;    ///< as lists and the page name it
  std::vector<std::string> paper_says;
  std::vector<std::string> differences;
  /// Words of a table or a figure.
  struct Item {
    std::string id;  ///< of the table or figure in the exhibit
    std::string title;
    std::string caption;
    std::vector<std::string> notes;  ///< of a table
    bool of_every = false;           ///< stands in [every]
  };
  std::vector<Item> tables;
  std::vector<Item> figures;
};

/// \throws InputError with the line if the text is wrong
std::vector<ExhibitText> parse_exhibits(const Texts& texts);

/// The exhibit `id` of the reproduction: runs and tables by code, words from exhibits.toml. A word
/// that the code has set (a title or caption with measured numbers in it) is kept; paragraphs and
/// notes of the code follow those of the text.
/// \throws InputError if the text has no such exhibit; the rendering, if it has words for a table
/// or figure of [[exhibit]] that the exhibit does not have
ExhibitEntry exhibit_entry(
    const Texts& texts, std::string_view id,
    std::function<std::vector<Job>(const Study& study)> jobs,
    std::function<plots::Exhibit(const Runs& runs, const Study& study)> render);

}  // namespace dpsosp
