// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/report/contents.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "contents_texts.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/claims/rates_table.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "moved_page.hpp"
#include "stored.hpp"

namespace dpsosp::report {
namespace {

/// Anchors of a page of errata: the ids of its sections and of the rows of its tables.
std::vector<std::string> errata_ids(std::string_view markdown) {
  std::vector<std::string> ids;
  for (std::size_t at = 0; at < markdown.size();) {
    const std::size_t end = std::min(markdown.find('\n', at), markdown.size());
    std::string_view line = markdown.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("### "))
      line.remove_prefix(4);
    else if (line.starts_with("| "))
      line.remove_prefix(2);
    else
      continue;
    const std::string id(line.substr(0, line.find(' ')));
    const bool is_id =
        id.size() >= 2 && id.size() <= 3 && id[0] >= 'A' && id[0] <= 'Z' &&
        std::ranges::all_of(id.substr(1), [](char c) { return c >= '0' && c <= '9'; });
    if (is_id) ids.push_back(id);
  }
  return ids;
}

/// Everything that a text may name, and where it leads.
std::map<std::string, std::string> addresses_of(const Stored& stored) {
  std::map<std::string, std::string> all;
  for (const auto& [key, markdown] : errata_texts()) {
    const std::string page = key.empty() ? "errata.html" : fmt::format("errata-{}.html", key);
    for (const std::string& id : errata_ids(markdown)) all.emplace(id, page + "#" + id);
  }
  for (const ProblemEntry& p : problem_registry())
    all.emplace(p.name, fmt::format("problems/{}.html", p.name));
  for (const AlgorithmEntry& a : algorithm_registry())
    all.emplace(a.key, fmt::format("algorithms/{}.html", file_name(a.key)));
  const Reproduced& r = stored.reproduced();
  for (std::size_t k = 0; k < r.entries.size(); ++k)
    all.emplace(r.entries[k]->id, r.exhibits[k].id + "/index.html");
  for (const Claim& c : stored.claims().claims) {
    const std::string page = fmt::format("claims/{}.html", file_name(c.id));
    all.emplace("claim " + c.id, page);
    all.emplace(c.id, page);  // unless an exhibit is called so
    if (c.of == ClaimOf::paper)
      all.emplace(paper_of(c.id), fmt::format("papers/{}.html", paper_of(c.id)));
  }
  return all;
}

}  // namespace

Site site_of(const Reproduced& reproduced, const Collection& collection) {
  const Stored stored(reproduced, collection);
  Site site{.scale = std::string(to_string(reproduced.study.scale)),
            .version = provenance().build.program_version};
  for (const AlgorithmEntry& e : algorithm_registry())
    site.methods.push_back({e.key, e.create()->card().title});
  site.addresses = addresses_of(stored);
  const std::vector<ForestGroup> forest = forest_of(stored);
  site.claim_list = claim_list_of(stored);
  site.claims = claim_pages_of(stored);
  site.exhibits = exhibit_pages_of(stored, forest);
  for (ClaimPage& c : site.claims)
    for (const ExhibitPage& e : site.exhibits)
      if (std::ranges::find(e.claims, c.id) != e.claims.end()) c.exhibits.push_back(e.id);
  site.which = which_of(stored);
  site.algorithms = algorithm_pages_of(stored, forest, site);
  site.problems = problem_pages_of(stored);
  site.texts = text_pages_of(stored, site);
  site.papers = paper_pages_of(stored, forest, site);
  site.index = index_of(stored, forest, site);
  return site;
}

Compared compared_of(std::string name, const Reproduced& reproduced, const Collection& collection) {
  return {std::move(name), site_of(reproduced, collection), results_of(reproduced.store)};
}

std::filesystem::path write_report(const Reproduced& reproduced, const Collection& collection,
                                   const WriteOptions& options, const std::string& name,
                                   const std::vector<Compared>& earlier) {
  Site site = site_of(reproduced, collection);
  if (!earlier.empty()) {
    const Compared own{name, site, results_of(reproduced.store)};
    std::vector<const Compared*> all;
    for (const Compared& c : earlier) all.push_back(&c);
    all.push_back(&own);
    site.texts.push_back(moved_page(all));
  }
  const std::filesystem::path folder = reproduced.out / "report";
  for (const plots::Exhibit& e : reproduced.exhibits)
    for (const plots::Attachment& a : e.attachments) {
      ensure_writable_folder(folder / e.id);
      write_file(folder / e.id / a.file.filename(), a.content ? *a.content : read_file(a.file));
    }
  ensure_writable_folder(folder);
  if (reproduced.whole)
    write_file(folder / "timings.csv", rate_timings(reproduced.store, reproduced.study));
  return write_site(site, folder, options);
}

}  // namespace dpsosp::report
