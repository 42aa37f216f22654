// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
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

/// A page of text beside an exhibit's.
struct Page {
  std::string id{};  ///< file stem, as Table::id
  std::string title{};
  std::string subtitle{};
  Label verdict{};
  struct Section {
    std::string heading;
    std::vector<std::string> paragraphs;
  };
  std::vector<Section> sections{};  ///< those without paragraphs are left out
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
  std::vector<Page> pages{};  ///< ID.html each; rows of tables may link to them
};

struct Report {
  std::string title{};
  std::vector<std::string> introduction{};                        ///< paragraphs
  std::vector<Table> summary{};                                   ///< on the first page
  std::vector<std::pair<std::string, std::string>> provenance{};  ///< name, value
  std::vector<Exhibit> exhibits{};
  std::vector<Attachment>
      attachments{};  ///< copied beside the first page, offered with the provenance
};

/// Writes a report that is read from disk: index.html, style.css, and for each exhibit a folder ID
/// with index.html, every table as .md, .tex and .csv, every figure as .svg, .pdf, .png, .gp and
/// .dat, and the attachments; the summary's tables and the report's attachments are beside the
/// first page. Links are relative; nothing is loaded from elsewhere. Files of an
/// earlier report that this one does not write are left alone.
/// \return the path of index.html.
/// \throws InputError as check(Table) and write_figure do, on ids that occur twice, and on
///   attachments that do not exist or have the name of another file of the exhibit.
std::filesystem::path write_report(const Report& report,
                                   const std::filesystem::path& folder,
                                   const std::string& gnuplot = "gnuplot");

}  // namespace dpsosp::plots
