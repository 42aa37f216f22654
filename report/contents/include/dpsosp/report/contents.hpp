// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dpsosp/claims/reproduction.hpp"
#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/report/model.hpp"
#include "dpsosp/report/site.hpp"

namespace dpsosp::report {

/// All pages of what was reproduced: its exhibits, every claim whose runs are among them, every
/// algorithm and problem, the league where its boards were played, and what is missing.
Site site_of(const Reproduced& reproduced, const Collection& collection);

/// docs/findings.md.
std::string findings_page();

/// What a store holds, by the runs' keys.
struct StoredResults {
  std::map<std::string, std::string> by_run;
  std::vector<std::string> builds;
};

/// A report that another is compared with.
struct Compared {
  std::string name;  ///< of its store
  Site site;
  StoredResults results;
};
Compared compared_of(std::string name, const Reproduced& reproduced, const Collection& collection);

/// Writes the pages below OUT/report.
/// \param name     of its store, where there are earlier ones
/// \param earlier  reports of other stores; a page says what moved between them and this one
/// \return the first page
std::filesystem::path write_report(const Reproduced& reproduced, const Collection& collection,
                                   const WriteOptions& options = {}, const std::string& name = {},
                                   const std::vector<Compared>& earlier = {});

/// Writes tables as LaTeX, figures as PDF, and paper.tex, which has them all.
/// \param options  whose formats are not used
/// \return paper.tex
std::filesystem::path write_paper(const Site& site, const std::filesystem::path& folder,
                                  const WriteOptions& options = {});

/// Where a sweep was read from: a file as the command line names it, or a built-in one.
struct SweepSource {
  std::string file;
  Scale scale = Scale::quick;
};

/// Writes what a sweep found: a page with its figures, exponents and cells, each figure in the
/// formats, each table as CSV, LaTeX and Markdown, and timings.csv, which alone differs between
/// machines.
/// \return what was written but for style sheet and scripts, the page last
std::vector<std::filesystem::path> write_sweep(const Store& store, const Runs& runs,
                                               const Sweep& sweep, const SweepSource& source,
                                               const std::filesystem::path& folder,
                                               const WriteOptions& options = {});

}  // namespace dpsosp::report
