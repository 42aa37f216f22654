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
#include "dpsosp/plots/markup.hpp"
#include "dpsosp/plots/table.hpp"
#include "page_writers.hpp"
#include "style_file.hpp"

namespace dpsosp::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What the search finds: title, address, text.
class SearchIndex {
 public:
  void add(const std::string& title, const std::string& address, const std::string& text) {
    entries_.push_back({plots::plain_text(title), address, plots::plain_text(text)});
  }
  std::string script() const { return "var INDEX=" + entries_.dump() + ";\n"; }

 private:
  json entries_ = json::array();
};

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
  void page(const Page& model, const std::string& address, const std::string& html) {
    const fs::path file = folder_ / address;
    ensure_writable_folder(file.parent_path());
    fs::path beside = file;
    beside.replace_extension(".json");
    this->file(beside, json_of(model));
    this->file(file, html);
  }

  void table(const plots::Table& t, const fs::path& place) {
    file(place / (t.id + ".md"), plots::to_markdown(t));
    file(place / (t.id + ".tex"), plots::to_latex(t));
    file(place / (t.id + ".csv"), plots::to_csv(t));
  }

  /// Draws all figures of exhibits, and of claims and the first page, if they are written. \return
  /// the addresses of those that are there; a figure of an earlier report is no figure of this one
  std::set<std::string> figures(const std::vector<ExhibitPage>& exhibits, bool whole_site) {
    std::vector<fs::path> descriptions;
    std::vector<std::string> wanted;
    const auto describe =
        [&](const auto& model, const std::string& page, const std::vector<std::string>& drawings) {
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
    std::set<std::string> drawn;
    for (const std::string& file : wanted)
      if (fs::exists(folder_ / file)) {
        drawn.insert(file);
        written.push_back(folder_ / file);
      }
    return drawn;
  }

  void exhibit(const ExhibitPage& e) {
    const fs::path place = folder_ / e.folder;
    ensure_writable_folder(place);
    for (const plots::Table& t : e.tables) table(t, place);
    for (const plots::Table& t : e.details) table(t, place);
    page(e, address_of(e), exhibit_html(e, site_));
    std::string about;
    for (const std::string& t : e.paper_says) about += t + " ";
    index.add(fmt::format("{}: {}", e.id, e.title), address_of(e), e.finding + ". " + about);
    for (const plots::Figure& f : e.figures)
      index.add(
          f.title.empty() ? f.id : f.title, address_of(e) + "#" + f.id, e.title + " " + f.caption);
    for (const plots::Table& t : e.tables)
      index.add(
          t.title.empty() ? t.id : t.title, address_of(e) + "#" + t.id, e.title + " " + t.caption);
  }

  void look() {
    write_file(folder_ / "style.css", style_css());
    write_file(folder_ / "report.js", report_js());
    write_file(folder_ / "theme.js", theme_js());
  }

  SearchIndex index;
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
  ensure_writable_folder(folder);
  Writer writer(site, folder, options);
  site.drawn = writer.figures(site.exhibits, true);
  for (const ExhibitPage& e : site.exhibits) writer.exhibit(e);
  for (const ClaimPage& c : site.claims) {
    writer.page(c, address_of(c), claim_html(c, site));
    writer.index.add(fmt::format("{}: {}", c.id, c.place),
                     address_of(c),
                     fmt::format("{} · {} {}", c.word, c.reading, c.measured));
  }
  if (!site.claims.empty())
    writer.page(site.claim_list, "claims/list.html", claims_html(site.claim_list, site));
  for (const PaperPage& p : site.papers) {
    writer.page(p, address_of(p), paper_html(p, site));
    writer.index.add(p.name, address_of(p), "paper " + p.key);
  }
  for (const AlgorithmPage& a : site.algorithms) {
    writer.page(a, address_of(a), algorithm_html(a, site));
    std::string about = a.title;
    for (const Fact& f : a.card) about += " " + f.text;
    writer.index.add(a.key, address_of(a), about);
  }
  for (const ProblemPage& p : site.problems) {
    writer.page(p, address_of(p), problem_html(p, site));
    writer.index.add(p.name, address_of(p), fmt::format("problem, {}: {}", p.group, p.summary));
  }
  if (site.which) {
    writer.page(*site.which, "which.html", which_html(*site.which, site));
    writer.index.add(
        "Which method?", "which.html", "league nearest cell n d epsilon saddle start question");
  }
  for (const TextPage& t : site.texts) {
    writer.page(t, address_of(t), text_html(t, site));
    writer.index.add(t.title, address_of(t), t.lead);
    for (const TextPage::Section& s : t.sections)
      if (!s.heading.empty())
        writer.index.add(s.heading, fmt::format("{}#{}", address_of(t), s.id), t.title);
  }
  TextPage lists{.id = "algorithms/index", .title = "Algorithms"};
  if (!site.algorithms.empty()) writer.page(lists, "algorithms/index.html", algorithms_html(site));
  lists = {.id = "problems/index", .title = "Problems"};
  if (!site.problems.empty()) writer.page(lists, "problems/index.html", problems_html(site));
  for (const Highlight& h : site.index.highlights)
    writer.index.add("Finding", "index.html#findings", h.sentence);
  writer.look();
  write_file(folder / "search.js", writer.index.script());
  writer.page(
      site.index, "index.html", index_html(site.index, site));  // last: it links to the others
  return folder / "index.html";
}

std::vector<fs::path> write_exhibit(const ExhibitPage& exhibit,
                                    Site site,
                                    const fs::path& folder,
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
  writer.look();
  site.drawn = writer.figures({e}, false);
  writer.exhibit(e);
  return std::move(writer.written);
}

json description_json(const ExhibitPage& exhibit, const Site& site) {
  return model_with_methods(exhibit, site);
}

std::string page_html(const IndexPage& page, const Site& site) { return index_html(page, site); }
std::string page_html(const ClaimPage& page, const Site& site) { return claim_html(page, site); }
std::string page_html(const ExhibitPage& page, const Site& site) {
  return exhibit_html(page, site);
}
std::string page_html(const AlgorithmPage& page, const Site& site) {
  return algorithm_html(page, site);
}
std::string page_html(const WhichPage& page, const Site& site) { return which_html(page, site); }

}  // namespace dpsosp::report
