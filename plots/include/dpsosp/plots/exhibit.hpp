// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/plots/figure.hpp"
#include "dpsosp/plots/table.hpp"

namespace dpsosp::plots {

/// A file that is put beside the exhibit's page and offered there: a copy of `file`, or `content`
/// under its name.
struct Attachment {
  std::string label{};
  std::filesystem::path file{};
  std::optional<std::string> content{};
};

/// One table or figure of a paper, beside what the paper says. Texts use the markup of markup.hpp.
struct Exhibit {
  std::string id{};     ///< folder of its page, as Table::id
  std::string paper{};  ///< exhibits of one paper are grouped in the overview
  std::string title{};
  Label verdict{};                        ///< one line
  std::vector<std::string> notice{};      ///< paragraphs before all others
  std::vector<std::string> paper_says{};  ///< paragraphs
  std::vector<std::string>
      differences{};  ///< where this differs from the paper, and why; paragraphs
  std::vector<Table> tables{};
  std::vector<Figure> figures{};
  std::vector<Attachment> attachments{};
};

}  // namespace dpsosp::plots
