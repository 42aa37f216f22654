// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/report/site.hpp"

#include <algorithm>
#include <concepts>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/plots/drawing.hpp"
#include "dpsosp/plots/figure.hpp"
#include "dpsosp/plots/table.hpp"
#include "mathml.hpp"

namespace dpsosp::report {

std::string file_name(std::string id) {
  std::ranges::replace(id, '/', '-');
  return id;
}

std::string worst_word(const std::vector<std::string>& words) {
  for (const char* word :
       {"refuted", "open", "slip", "vacuous", "bound met, exponent open", "confirmed"})
    if (std::ranges::find(words, word) != words.end()) return word;
  return {};
}

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Addresses of pages, and of drawings without their ending.
std::string drawing_of(const ClaimPage& page) { return "claims/" + file_name(page.id); }
std::string drawing_of(const ExhibitPage& page, const plots::Figure& figure) {
  return page.folder.empty() ? figure.id : fmt::format("{}/{}", page.folder, figure.id);
}
std::string address_of(const IndexPage&) { return "index.html"; }
std::string address_of(const ClaimsPage&) { return "claims/list.html"; }
std::string address_of(const ClaimPage& page) { return drawing_of(page) + ".html"; }
std::string address_of(const ExhibitPage& page) {
  return page.folder.empty() ? "index.html" : page.folder + "/index.html";
}
std::string address_of(const PaperPage& page) { return fmt::format("papers/{}.html", page.key); }
std::string address_of(const AlgorithmPage& page) {
  return fmt::format("algorithms/{}.html", file_name(page.key));
}
std::string address_of(const AlgorithmsPage&) { return "algorithms/index.html"; }
std::string address_of(const ProblemPage& page) {
  return fmt::format("problems/{}.html", page.name);
}
std::string address_of(const ProblemsPage&) { return "problems/index.html"; }
std::string address_of(const WhichPage&) { return "which.html"; }
std::string address_of(const TextPage& page) { return page.id + ".html"; }

AlgorithmLine line_of(const AlgorithmPage& page) {
  AlgorithmLine line{.key = page.key, .title = page.title, .claim = page.claim};
  std::vector<std::string> words;
  for (const ForestRow& row : page.rows) words.push_back(row.word);
  line.word = worst_word(words);
  for (const Fact& f : page.card) {
    if (f.name == "Guarantee") line.guarantee = f.text;
    if (f.name == "Privacy") line.privacy = f.text;
  }
  for (const LeagueRank& r : page.ranks)
    line.ranks += fmt::format("{}d = {}: {}", line.ranks.empty() ? "" : ", ", r.d, r.word);
  return line;
}

void claim(std::set<std::string>& taken, const std::string& where, const std::string& name) {
  if (!taken.insert(name).second) reject(where, "file", "'" + name + "'", "a name of its own");
}

/// All checks that can be made before the first file is written.
void check_exhibit(const ExhibitPage& e) {
  const std::string where = fmt::format("exhibit '{}'", e.id);
  std::set<std::string> taken{"index", "list"};
  for (const auto* tables : {&e.tables, &e.details})
    for (const plots::Table& t : *tables) {
      check(t);
      claim(taken, where, t.id);
    }
  for (const plots::Figure& f : e.figures) {
    check(f);
    claim(taken, where, f.id);
  }
}

/// A model with the methods, whose places are the colours of its figures.
template <class Page>
json model_with_methods(const Page& page, const Site& site) {
  json j = model_json(page);
  if (j.contains("figures") || j.contains("figure"))
    for (const Method& m : site.methods) j["methods"].push_back(m.key);
  return j;
}

class Writer {
 public:
  Writer(const Site& site, const fs::path& folder, const WriteOptions& options)
      : site_(site), folder_(folder), options_(options) {}

  template <class Page>
  void page(const Page& model) {
    const std::string address = address_of(model);
    const fs::path file = (folder_ / address).replace_extension(".json");
    ensure_writable_folder(file.parent_path());
    this->file(file, json_of(model));
    pages_.push_back({address, model_kind(model)});
  }

  void table(const plots::Table& t, const fs::path& place) {
    file(place / (t.id + ".md"), plots::to_markdown(t));
    file(place / (t.id + ".tex"), plots::to_latex(t));
    file(place / (t.id + ".csv"), plots::to_csv(t));
  }

  /// Draws all figures of exhibits, and of claims and the first page, if they are written; equal
  /// ones of a whole site are one file. A figure of an earlier report is no figure of this one.
  void figures(const std::vector<ExhibitPage>& exhibits, bool whole_site) {
    std::vector<fs::path> descriptions;
    std::vector<std::string> wanted;
    const auto describe = [&](const auto& model, const std::string& page,
                              const std::vector<std::string>& drawings) {
      for (const std::string& drawing : drawings)
        for (const std::string& format : options_.formats) {
          wanted.push_back(fmt::format("{}.{}", drawing, format));
          fs::remove(folder_ / wanted.back());
        }
      if (drawings.empty()) return;
      descriptions.push_back((folder_ / page).replace_extension(".json"));
      ensure_writable_folder(descriptions.back().parent_path());
      write_file(descriptions.back(), json_of(model));
    };
    for (const ExhibitPage& e : exhibits) {
      std::vector<std::string> drawings;
      for (const plots::Figure& f : e.figures) drawings.push_back(drawing_of(e, f));
      describe(e, address_of(e), drawings);
    }
    for (const ClaimPage& c : site_.claims)
      if (whole_site && c.figure) describe(c, address_of(c), {drawing_of(c)});
    if (whole_site && !site_.index.forest.empty()) describe(site_.index, "index.html", {"forest"});
    for (const std::string& line : plots::draw_figures(descriptions, options_.formats))
      if (options_.notice) options_.notice(line);
    std::map<std::string, std::string> places;  // by content
    for (const std::string& file : wanted) {
      if (!fs::exists(folder_ / file)) continue;
      const std::string& place =
          whole_site ? places.emplace(read_file(folder_ / file), file).first->second : file;
      drawn_.emplace(file, place);
      if (place == file)
        written.push_back(folder_ / file);
      else
        fs::remove(folder_ / file);
    }
  }

  void exhibit(const ExhibitPage& e) {
    const fs::path place = folder_ / e.folder;
    ensure_writable_folder(place);
    for (const plots::Table& t : e.tables) table(t, place);
    for (const plots::Table& t : e.details) table(t, place);
    page(e);
  }

  /// Has the pages made of what was written. \return the first, or its model
  fs::path pages() {
    SiteFile about{.scale = site_.scale,
                   .version = site_.version,
                   .addresses = site_.addresses,
                   .drawn = drawn_,
                   .pages = pages_};
    for (const Method& m : site_.methods) about.methods.push_back(m.key);
    write_file(folder_ / "site.json", model_json(about).dump() + "\n");
    write_file(
        folder_ / "models.json",
        json{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$defs", model_schema()}}
                .dump() +
            "\n");
    const std::vector<std::string> reasons = plots::make_pages(folder_);
    for (const std::string& line : reasons)
      if (options_.notice) options_.notice(line);
    return folder_ / (reasons.empty() ? "index.html" : "index.json");
  }

  std::vector<fs::path> written;

 private:
  template <class Page>
  std::string json_of(const Page& model) const {
    return model_with_methods(model, site_).dump() + "\n";
  }

  void file(const fs::path& place, const std::string& content) {
    write_file(place, content);
    written.push_back(place);
  }

  const Site& site_;
  const fs::path& folder_;
  const WriteOptions& options_;
  std::map<std::string, std::string> drawn_;
  std::vector<PageEntry> pages_;
};

}  // namespace

fs::path write_site(Site site, const fs::path& folder, const WriteOptions& options) {
  std::set<std::string> names{"papers", "algorithms", "problems"};
  for (const ExhibitPage& e : site.exhibits) {
    check_id("exhibit", e.folder);
    check_exhibit(e);
    claim(names, "report", e.folder);
  }
  for (const TextPage& t : site.texts) {
    check_id("page", t.id);
    claim(names, "report", t.id);
  }
  for (ClaimPage& c : site.claims) add_formulas(c.formulas, c.printed);
  for (TextPage& t : site.texts)
    for (TextPage::Section& s : t.sections) add_formulas_of_quotations(s.formulas, s.markdown);
  ensure_writable_folder(folder);
  Writer writer(site, folder, options);
  writer.figures(site.exhibits, true);
  for (const ExhibitPage& e : site.exhibits) writer.exhibit(e);
  for (const ClaimPage& c : site.claims) writer.page(c);
  if (!site.claims.empty()) writer.page(site.claim_list);
  for (const PaperPage& p : site.papers) writer.page(p);
  AlgorithmsPage algorithms;
  for (const AlgorithmPage& a : site.algorithms) {
    writer.page(a);
    algorithms.algorithms.push_back(line_of(a));
  }
  ProblemsPage problems;
  for (const ProblemPage& p : site.problems) {
    writer.page(p);
    problems.problems.push_back(
        {p.name, p.group, p.summary, static_cast<int>(p.algorithms.size())});
  }
  if (site.which) writer.page(*site.which);
  for (const TextPage& t : site.texts) writer.page(t);
  if (!site.algorithms.empty()) writer.page(algorithms);
  if (!site.problems.empty()) writer.page(problems);
  writer.page(site.index);
  return writer.pages();
}

std::vector<fs::path> write_exhibit(const ExhibitPage& exhibit, Site site, const fs::path& folder,
                                    const WriteOptions& options) {
  ExhibitPage e = exhibit;
  std::set<std::string> taken;
  std::erase_if(e.figures, [&](const plots::Figure& f) {
    try {
      check(f);
      claim(taken, "figures", f.id);
      return false;
    } catch (const InputError& error) {
      e.notice.push_back(fmt::format("The figure {} is missing: {}.", f.id, error.what()));
      if (options.notice) options.notice(e.notice.back());
      return true;
    }
  });
  check_exhibit(e);
  ensure_writable_folder(folder);
  Writer writer(site, folder, options);
  writer.figures({e}, false);
  writer.exhibit(e);
  if (const fs::path page = writer.pages(); page.extension() == ".html")
    writer.written.push_back(page);
  return std::move(writer.written);
}

json description_json(const ExhibitPage& exhibit, const Site& site) {
  return model_with_methods(exhibit, site);
}

}  // namespace dpsosp::report
