// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/report/model.hpp"

namespace dpsosp::report {

struct WriteOptions {
  std::vector<std::string> formats{};  ///< of the figures' files: "svg", "pdf", "png"; none
  std::function<void(const std::string&)> notice{};  ///< is told in a line of what is left out
};

/// Writes a report that is read from disk: pages, each with its model as JSON beside it, figures,
/// tables as CSV, LaTeX and Markdown, the style sheet and the scripts. Links are relative;
/// nothing is loaded from elsewhere, and without scripts all is there but search and filters.
/// Files of an earlier report that this one does not write are left alone. Figures that are not
/// drawn are missing as files alone.
/// \return the first page
/// \throws InputError on a bad table or figure, ids that occur twice, or an unwritable folder
std::filesystem::path write_site(Site site,
                                 const std::filesystem::path& folder,
                                 const WriteOptions& options = {});

/// Writes one exhibit into a folder of its own: index.html and all that it shows. A figure that
/// cannot be drawn is left out.
/// \return what was written but for the style sheet and the scripts, the page last
/// \throws as write_site, but for figures
std::vector<std::filesystem::path> write_exhibit(const ExhibitPage& exhibit,
                                                 Site site,
                                                 const std::filesystem::path& folder,
                                                 const WriteOptions& options = {});

/// The model of a page as JSON, and back. Numbers that are not finite are null.
template <class Page>
nlohmann::json model_json(const Page& page);
/// \throws nlohmann::json::exception or InputError if it is no such model
template <class Page>
Page model_of(const nlohmann::json& json);

/// The model of an exhibit with the methods, whose places are their colours: a description of its
/// figures, which dpsosp.draw takes.
nlohmann::json description_json(const ExhibitPage& exhibit, const Site& site);

/// A page from its model: what write_site writes.
std::string page_html(const IndexPage& page, const Site& site);
std::string page_html(const ClaimPage& page, const Site& site);
std::string page_html(const ExhibitPage& page, const Site& site);
std::string page_html(const AlgorithmPage& page, const Site& site);
std::string page_html(const WhichPage& page, const Site& site);

}  // namespace dpsosp::report
