// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/report/site.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "chart.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
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
    this->file(beside, model_json(model).dump() + "\n");
    this->file(file, html);
  }

  void table(const plots::Table& t, const fs::path& place) {
    file(place / (t.id + ".md"), plots::to_markdown(t));
    file(place / (t.id + ".tex"), plots::to_latex(t));
    file(place / (t.id + ".csv"), plots::to_csv(t));
  }

  void exhibit(const ExhibitPage& e) {
    const fs::path place = folder_ / e.folder;
    ensure_writable_folder(place);
    for (const plots::Table& t : e.tables) table(t, place);
    for (const plots::Table& t : e.details) table(t, place);
    for (const plots::Figure& f : e.figures)
      file(place / (f.id + ".svg"), figure_file(f, e.rates, site_));
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

  /// The figures as PDF, which another program draws.
  std::vector<fs::path> pdfs(const ExhibitPage& e) const {
    std::vector<fs::path> files;
    for (const plots::Figure& f : e.figures)
      files.push_back(plots::write_pdf(f, folder_ / e.folder, options_.gnuplot));
    return files;
  }

  void look() {
    write_file(folder_ / "style.css", style_css());
    write_file(folder_ / "report.js", report_js());
    write_file(folder_ / "theme.js", theme_js());
  }

  SearchIndex index;
  std::vector<fs::path> written;

 private:
  void file(const fs::path& place, const std::string& content) {
    write_file(place, content);
    written.push_back(place);
  }

  const Site& site_;
  const fs::path& folder_;
  const WriteOptions& options_;
};

}  // namespace

fs::path write_site(const Site& site, const fs::path& folder, const WriteOptions& options) {
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
  if (!site.index.forest.empty()) write_file(folder / "forest.svg", forest_file(site.index.forest));
  writer.page(
      site.index, "index.html", index_html(site.index, site));  // last: it links to the others
  if (options.print)
    for (const ExhibitPage& e : site.exhibits) writer.pdfs(e);
  return folder / "index.html";
}

std::vector<fs::path> write_exhibit(const ExhibitPage& exhibit,
                                    const Site& site,
                                    const fs::path& folder,
                                    const WriteOptions& options,
                                    const std::function<void(const std::string&)>& notice) {
  const auto tell = [&](const std::string& line) {
    if (notice) notice(line);
  };
  ExhibitPage e = exhibit;
  e.print = false;
  std::set<std::string> taken;
  std::erase_if(e.figures, [&](const plots::Figure& f) {
    try {
      check(f);
      figure_file(f, e.rates, site);
      claim(taken, "figures", f.id);
      return false;
    } catch (const InputError& error) {
      e.notice.push_back(fmt::format("The figure {} is missing: {}.", f.id, error.what()));
      tell(e.notice.back());
      return true;
    }
  });
  check_exhibit(e);
  ensure_writable_folder(folder);
  Writer writer(site, folder, options);
  writer.look();
  writer.exhibit(e);
  if (!options.print || e.figures.empty()) return std::move(writer.written);
  try {
    const std::vector<fs::path> files = writer.pdfs(e);
    e.print = true;
    writer.written.clear();
    writer.exhibit(e);
    writer.written.insert(writer.written.end() - 2, files.begin(), files.end());
  } catch (const InputError& error) {
    tell(fmt::format("figures as SVG alone: {}", error.what()));
  }
  return std::move(writer.written);
}

std::string figure_svg(const plots::Figure& figure,
                       const std::vector<Rate>& rates,
                       const std::vector<Method>& methods) {
  Site site;
  site.methods = methods;
  return figure_file(figure, rates, site);
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
