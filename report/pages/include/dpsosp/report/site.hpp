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

/// Writes a report that is read from disk: the models of its pages as JSON, tables as CSV, LaTeX
/// and Markdown, and with dpsosp.plots and dpsosp.report, where Python and what they need are
/// installed, figures and the pages themselves. Links are relative; nothing is loaded from
/// elsewhere. Files of an earlier report that this one does not write are left alone.
/// \return the first page; its model, if pages were not made
/// \throws InputError on a bad table or figure, ids that occur twice, or an unwritable folder
std::filesystem::path write_site(Site site, const std::filesystem::path& folder,
                                 const WriteOptions& options = {});

/// Writes one exhibit into a folder of its own: index.html and all that it shows. A figure that
/// cannot be drawn is left out.
/// \return what was written but for what pages have in common, the page or its model last
/// \throws as write_site, but for figures
std::vector<std::filesystem::path> write_exhibit(const ExhibitPage& exhibit, Site site,
                                                 const std::filesystem::path& folder,
                                                 const WriteOptions& options = {});

/// The model of a page as JSON. Numbers that are not finite are null; what is empty or as in a
/// default model has no key.
template <class Page>
nlohmann::json model_json(const Page& page);
/// Its name in the schema: "ClaimPage".
template <class Page>
std::string model_kind(const Page& page);
/// Schemas of all models by their names, in the words of JSON Schema: the `$defs` of models.json,
/// which stands beside site.json.
nlohmann::json model_schema();

/// The model of an exhibit with the methods, whose places are their colours: a description of its
/// figures, which dpsosp.draw takes.
nlohmann::json description_json(const ExhibitPage& exhibit, const Site& site);

}  // namespace dpsosp::report
