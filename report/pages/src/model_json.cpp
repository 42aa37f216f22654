// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>
#include <variant>

#include "dpsosp/report/site.hpp"

namespace dpsosp::report {
namespace {

using nlohmann::json;

/// A member of a model and its name in JSON.
template <class Owner, class T>
struct Member {
  const char* name;
  T Owner::*place;
};
template <class Owner, class T>
constexpr Member<Owner, T> m(const char* name, T Owner::*place) {
  return {name, place};
}

/// The members of each model, once for both directions.
template <class T>
struct Members;

template <>
struct Members<plots::NumberFormat> {
  static constexpr auto list = std::tuple{m("digits", &plots::NumberFormat::digits),
      m("scientific", &plots::NumberFormat::scientific)};
};
template <>
struct Members<plots::Number> {
  static constexpr auto list = std::tuple{m("value", &plots::Number::value),
      m("format", &plots::Number::format)};
};
template <>
struct Members<plots::Spread> {
  static constexpr auto list = std::tuple{m("median", &plots::Spread::median),
      m("low", &plots::Spread::low),
      m("high", &plots::Spread::high),
      m("count", &plots::Spread::count),
      m("failed", &plots::Spread::failed),
      m("failure", &plots::Spread::failure),
      m("format", &plots::Spread::format)};
};
template <>
struct Members<plots::Label> {
  static constexpr auto list = std::tuple{m("text", &plots::Label::text),
      m("tone", &plots::Label::tone)};
};
template <>
struct Members<plots::Cell> {
  static constexpr auto list = std::tuple{m("content", &plots::Cell::content),
      m("strong", &plots::Cell::strong),
      m("labels", &plots::Cell::labels),
      m("footnotes", &plots::Cell::footnotes)};
};
template <>
struct Members<plots::ColumnGroup> {
  static constexpr auto list = std::tuple{m("label", &plots::ColumnGroup::label),
      m("columns", &plots::ColumnGroup::columns)};
};
template <>
struct Members<plots::Row> {
  static constexpr auto list = std::tuple{m("label", &plots::Row::label),
      m("cells", &plots::Row::cells),
      m("footnotes", &plots::Row::footnotes)};
};
template <>
struct Members<plots::RowGroup> {
  static constexpr auto list = std::tuple{m("label", &plots::RowGroup::label),
      m("rows", &plots::RowGroup::rows)};
};
template <>
struct Members<plots::Table> {
  static constexpr auto list = std::tuple{m("id", &plots::Table::id),
      m("title", &plots::Table::title),
      m("caption", &plots::Table::caption),
      m("row_header", &plots::Table::row_header),
      m("column_groups", &plots::Table::column_groups),
      m("row_groups", &plots::Table::row_groups),
      m("footnotes", &plots::Table::footnotes),
      m("notes", &plots::Table::notes),
      m("sweep", &plots::Table::sweep)};
};
template <>
struct Members<plots::Axis> {
  static constexpr auto list = std::tuple{m("label", &plots::Axis::label),
      m("scale", &plots::Axis::scale),
      m("range", &plots::Axis::range)};
};
template <>
struct Members<plots::Series> {
  static constexpr auto list = std::tuple{m("label", &plots::Series::label),
      m("style", &plots::Series::style),
      m("dashed", &plots::Series::dashed),
      m("algorithm", &plots::Series::algorithm),
      m("x", &plots::Series::x),
      m("y", &plots::Series::y),
      m("low", &plots::Series::low),
      m("high", &plots::Series::high)};
};
template <>
struct Members<plots::Marker> {
  static constexpr auto list = std::tuple{m("label", &plots::Marker::label),
      m("style", &plots::Marker::style),
      m("x", &plots::Marker::x),
      m("y", &plots::Marker::y)};
};
template <>
struct Members<plots::ReferenceLine> {
  static constexpr auto list = std::tuple{m("label", &plots::ReferenceLine::label),
      m("direction", &plots::ReferenceLine::direction),
      m("value", &plots::ReferenceLine::value)};
};
template <>
struct Members<plots::Origin> {
  static constexpr auto list = std::tuple{m("sweep", &plots::Origin::sweep),
      m("part", &plots::Origin::part),
      m("metric", &plots::Origin::metric)};
};
template <>
struct Members<plots::Panel> {
  static constexpr auto list = std::tuple{m("title", &plots::Panel::title),
      m("origin", &plots::Panel::origin),
      m("x", &plots::Panel::x),
      m("y", &plots::Panel::y),
      m("series", &plots::Panel::series),
      m("markers", &plots::Panel::markers),
      m("lines", &plots::Panel::lines)};
};
template <>
struct Members<plots::Figure> {
  static constexpr auto list = std::tuple{m("id", &plots::Figure::id),
      m("title", &plots::Figure::title),
      m("caption", &plots::Figure::caption),
      m("alternative", &plots::Figure::alternative),
      m("panels", &plots::Figure::panels),
      m("columns", &plots::Figure::columns)};
};
template <>
struct Members<Rate> {
  static constexpr auto list = std::tuple{m("claim", &Rate::claim),
      m("axis", &Rate::axis),
      m("claimed_low", &Rate::claimed_low),
      m("claimed_high", &Rate::claimed_high),
      m("zone_low", &Rate::zone_low),
      m("zone_high", &Rate::zone_high),
      m("value", &Rate::value),
      m("low", &Rate::low),
      m("high", &Rate::high),
      m("plan", &Rate::plan),
      m("drift", &Rate::drift),
      m("drifting", &Rate::drifting),
      m("in_noise", &Rate::in_noise),
      m("metric", &Rate::metric),
      m("word", &Rate::word),
      m("verdict", &Rate::verdict),
      m("bound", &Rate::bound),
      m("reason", &Rate::reason),
      m("seeds", &Rate::seeds),
      m("cells", &Rate::cells),
      m("privacy", &Rate::privacy),
      m("algorithm", &Rate::algorithm),
      m("problem", &Rate::problem),
      m("sweep", &Rate::sweep),
      m("part", &Rate::part),
      m("arm", &Rate::arm)};
};
template <>
struct Members<ForestRow> {
  static constexpr auto list = std::tuple{m("claim", &ForestRow::claim),
      m("method", &ForestRow::method),
      m("algorithm", &ForestRow::algorithm),
      m("paper", &ForestRow::paper),
      m("word", &ForestRow::word),
      m("rates", &ForestRow::rates),
      m("also", &ForestRow::also)};
};
template <>
struct Members<ForestGroup> {
  static constexpr auto list = std::tuple{m("paper", &ForestGroup::paper),
      m("quantity", &ForestGroup::quantity),
      m("rows", &ForestGroup::rows)};
};
template <>
struct Members<Highlight> {
  static constexpr auto list = std::tuple{m("sentence", &Highlight::sentence),
      m("page", &Highlight::page),
      m("command", &Highlight::command),
      m("claims", &Highlight::claims),
      m("intervals", &Highlight::intervals),
      m("panel", &Highlight::panel),
      m("bars", &Highlight::bars)};
};
template <>
struct Members<WordCounts> {
  static constexpr auto list = std::tuple{m("paper", &WordCounts::paper),
      m("name", &WordCounts::name),
      m("counts", &WordCounts::counts),
      m("all", &WordCounts::all)};
};
template <>
struct Members<Missing> {
  static constexpr auto list = std::tuple{m("what", &Missing::what),
      m("why", &Missing::why),
      m("command", &Missing::command),
      m("page", &Missing::page)};
};
template <>
struct Members<ExhibitCard> {
  static constexpr auto list = std::tuple{m("id", &ExhibitCard::id),
      m("paper", &ExhibitCard::paper),
      m("title", &ExhibitCard::title),
      m("verdict", &ExhibitCard::verdict),
      m("page", &ExhibitCard::page)};
};
template <>
struct Members<ClaimLine> {
  static constexpr auto list = std::tuple{m("id", &ClaimLine::id),
      m("paper", &ClaimLine::paper),
      m("place", &ClaimLine::place),
      m("of", &ClaimLine::of),
      m("reading", &ClaimLine::reading),
      m("measured", &ClaimLine::measured),
      m("word", &ClaimLine::word),
      m("evidence", &ClaimLine::evidence)};
};
template <>
struct Members<IndexPage> {
  static constexpr auto list = std::tuple{m("title", &IndexPage::title),
      m("lead", &IndexPage::lead),
      m("warning", &IndexPage::warning),
      m("rule", &IndexPage::rule),
      m("highlights", &IndexPage::highlights),
      m("words", &IndexPage::words),
      m("others", &IndexPage::others),
      m("forest", &IndexPage::forest),
      m("missing", &IndexPage::missing),
      m("not_private", &IndexPage::not_private),
      m("exhibits", &IndexPage::exhibits)};
};
template <>
struct Members<ClaimsPage> {
  static constexpr auto list = std::tuple{m("claims", &ClaimsPage::claims)};
};
template <>
struct Members<Command> {
  static constexpr auto list = std::tuple{m("what", &Command::what),
      m("command", &Command::command)};
};
template <>
struct Members<ExhibitPage> {
  static constexpr auto list = std::tuple{m("id", &ExhibitPage::id),
      m("folder", &ExhibitPage::folder),
      m("paper", &ExhibitPage::paper),
      m("paper_key", &ExhibitPage::paper_key),
      m("title", &ExhibitPage::title),
      m("finding", &ExhibitPage::finding),
      m("notice", &ExhibitPage::notice),
      m("paper_says", &ExhibitPage::paper_says),
      m("differences", &ExhibitPage::differences),
      m("figures", &ExhibitPage::figures),
      m("tables", &ExhibitPage::tables),
      m("details", &ExhibitPage::details),
      m("rates", &ExhibitPage::rates),
      m("claims", &ExhibitPage::claims),
      m("commands", &ExhibitPage::commands),
      m("files", &ExhibitPage::files),
      m("print", &ExhibitPage::print)};
};
template <>
struct Members<ClaimPage> {
  static constexpr auto list = std::tuple{m("id", &ClaimPage::id),
      m("paper", &ClaimPage::paper),
      m("place", &ClaimPage::place),
      m("word", &ClaimPage::word),
      m("verdict", &ClaimPage::verdict),
      m("evidence", &ClaimPage::evidence),
      m("printed", &ClaimPage::printed),
      m("no_quotation", &ClaimPage::no_quotation),
      m("hypotheses", &ClaimPage::hypotheses),
      m("reading", &ClaimPage::reading),
      m("ambiguity", &ClaimPage::ambiguity),
      m("measure", &ClaimPage::measure),
      m("expected", &ClaimPage::expected),
      m("holds_if", &ClaimPage::holds_if),
      m("instead", &ClaimPage::instead),
      m("measured", &ClaimPage::measured),
      m("reason", &ClaimPage::reason),
      m("reference", &ClaimPage::reference),
      m("stands", &ClaimPage::stands),
      m("change", &ClaimPage::change),
      m("objection", &ClaimPage::objection),
      m("answer", &ClaimPage::answer),
      m("changed", &ClaimPage::changed),
      m("open", &ClaimPage::open),
      m("rates", &ClaimPage::rates),
      m("notes", &ClaimPage::notes),
      m("figure", &ClaimPage::figure),
      m("commands", &ClaimPage::commands),
      m("exhibits", &ClaimPage::exhibits),
      m("algorithms", &ClaimPage::algorithms),
      m("problems", &ClaimPage::problems),
      m("previous", &ClaimPage::previous),
      m("next", &ClaimPage::next)};
};
template <>
struct Members<Fact> {
  static constexpr auto list = std::tuple{m("name", &Fact::name),
      m("text", &Fact::text)};
};
template <>
struct Members<LeagueRank> {
  static constexpr auto list = std::tuple{m("board", &LeagueRank::board),
      m("problem", &LeagueRank::problem),
      m("rank", &LeagueRank::rank),
      m("of", &LeagueRank::of),
      m("ratio", &LeagueRank::ratio),
      m("wins", &LeagueRank::wins),
      m("cells", &LeagueRank::cells),
      m("all", &LeagueRank::all)};
};
template <>
struct Members<LedgerLine> {
  static constexpr auto list = std::tuple{m("query", &LedgerLine::query),
      m("count", &LedgerLine::count),
      m("event", &LedgerLine::event),
      m("records", &LedgerLine::records),
      m("sensitivity", &LedgerLine::sensitivity)};
};
template <>
struct Members<ShownRun> {
  static constexpr auto list = std::tuple{m("command", &ShownRun::command),
      m("setting", &ShownRun::setting),
      m("guarantee", &ShownRun::guarantee),
      m("spent", &ShownRun::spent),
      m("accountant", &ShownRun::accountant),
      m("ledger", &ShownRun::ledger),
      m("parameters", &ShownRun::parameters)};
};
template <>
struct Members<AlgorithmPage> {
  static constexpr auto list = std::tuple{m("key", &AlgorithmPage::key),
      m("title", &AlgorithmPage::title),
      m("paper", &AlgorithmPage::paper),
      m("claim", &AlgorithmPage::claim),
      m("card", &AlgorithmPage::card),
      m("settings", &AlgorithmPage::settings),
      m("rows", &AlgorithmPage::rows),
      m("figure", &AlgorithmPage::figure),
      m("ranks", &AlgorithmPage::ranks),
      m("run", &AlgorithmPage::run),
      m("audit", &AlgorithmPage::audit),
      m("exhibits", &AlgorithmPage::exhibits),
      m("commands", &AlgorithmPage::commands)};
};
template <>
struct Members<ConstantLine> {
  static constexpr auto list = std::tuple{m("symbol", &ConstantLine::symbol),
      m("name", &ConstantLine::name),
      m("value", &ConstantLine::value),
      m("bound", &ConstantLine::bound),
      m("where", &ConstantLine::where),
      m("why", &ConstantLine::why)};
};
template <>
struct Members<Picture::Point> {
  static constexpr auto list = std::tuple{m("kind", &Picture::Point::kind),
      m("x", &Picture::Point::x),
      m("y", &Picture::Point::y)};
};
template <>
struct Members<Picture> {
  static constexpr auto list = std::tuple{m("caption", &Picture::caption),
      m("x_label", &Picture::x_label),
      m("y_label", &Picture::y_label),
      m("x_low", &Picture::x_low),
      m("x_high", &Picture::x_high),
      m("y_low", &Picture::y_low),
      m("y_high", &Picture::y_high),
      m("bands", &Picture::bands),
      m("points", &Picture::points)};
};
template <>
struct Members<ProblemPage> {
  static constexpr auto list = std::tuple{m("name", &ProblemPage::name),
      m("group", &ProblemPage::group),
      m("summary", &ProblemPage::summary),
      m("formula", &ProblemPage::formula),
      m("source", &ProblemPage::source),
      m("critical_points", &ProblemPage::critical_points),
      m("size", &ProblemPage::size),
      m("constants", &ProblemPage::constants),
      m("settings", &ProblemPage::settings),
      m("picture", &ProblemPage::picture),
      m("algorithms", &ProblemPage::algorithms),
      m("sweeps", &ProblemPage::sweeps),
      m("ranks", &ProblemPage::ranks)};
};
template <>
struct Members<PaperPage> {
  static constexpr auto list = std::tuple{m("key", &PaperPage::key),
      m("name", &PaperPage::name),
      m("words", &PaperPage::words),
      m("forest", &PaperPage::forest),
      m("refuted", &PaperPage::refuted),
      m("untested", &PaperPage::untested),
      m("claims", &PaperPage::claims),
      m("exhibits", &PaperPage::exhibits),
      m("algorithms", &PaperPage::algorithms),
      m("errata", &PaperPage::errata)};
};
template <>
struct Members<LeagueCell::Level> {
  static constexpr auto list = std::tuple{m("algorithm", &LeagueCell::Level::algorithm),
      m("median", &LeagueCell::Level::median),
      m("low", &LeagueCell::Level::low),
      m("high", &LeagueCell::Level::high),
      m("seeds", &LeagueCell::Level::seeds),
      m("failed", &LeagueCell::Level::failed)};
};
template <>
struct Members<LeagueCell> {
  static constexpr auto list = std::tuple{m("board", &LeagueCell::board),
      m("problem", &LeagueCell::problem),
      m("n", &LeagueCell::n),
      m("d", &LeagueCell::d),
      m("epsilon", &LeagueCell::epsilon),
      m("start", &LeagueCell::start),
      m("levels", &LeagueCell::levels)};
};
template <>
struct Members<LeagueControl> {
  static constexpr auto list = std::tuple{m("board", &LeagueControl::board),
      m("algorithm", &LeagueControl::algorithm),
      m("n", &LeagueControl::n),
      m("epsilon", &LeagueControl::epsilon),
      m("as_run", &LeagueControl::as_run),
      m("no_noise", &LeagueControl::no_noise),
      m("no_data", &LeagueControl::no_data),
      m("start", &LeagueControl::start)};
};
template <>
struct Members<WhichPage> {
  static constexpr auto list = std::tuple{m("n", &WhichPage::n),
      m("d", &WhichPage::d),
      m("epsilon", &WhichPage::epsilon),
      m("start", &WhichPage::start),
      m("cells", &WhichPage::cells),
      m("nearest", &WhichPage::nearest),
      m("controls", &WhichPage::controls),
      m("can", &WhichPage::can),
      m("cannot", &WhichPage::cannot),
      m("starts", &WhichPage::starts),
      m("toml", &WhichPage::toml),
      m("command", &WhichPage::command)};
};
template <>
struct Members<TextPage::Section> {
  static constexpr auto list = std::tuple{m("id", &TextPage::Section::id),
      m("heading", &TextPage::Section::heading),
      m("paragraphs", &TextPage::Section::paragraphs),
      m("facts", &TextPage::Section::facts),
      m("tables", &TextPage::Section::tables),
      m("commands", &TextPage::Section::commands),
      m("links", &TextPage::Section::links),
      m("markdown", &TextPage::Section::markdown)};
};
template <>
struct Members<TextPage> {
  static constexpr auto list = std::tuple{m("id", &TextPage::id),
      m("title", &TextPage::title),
      m("lead", &TextPage::lead),
      m("sections", &TextPage::sections)};
};

template <class T>
concept Model = requires { Members<T>::list; };

json to_json_value(bool v) { return v; }
json to_json_value(int v) { return v; }
json to_json_value(std::int64_t v) { return v; }
json to_json_value(std::size_t v) { return v; }
json to_json_value(double v) { return std::isfinite(v) ? json(v) : json(); }
json to_json_value(const std::string& v) { return v; }
template <class T>
  requires std::is_enum_v<T>
json to_json_value(T v) {
  return static_cast<int>(v);
}
template <class T>
json to_json_value(const std::optional<T>& v);
template <class T>
json to_json_value(const std::vector<T>& v);
template <class A, class B>
json to_json_value(const std::pair<A, B>& v);
template <class T>
json to_json_value(const std::map<std::string, T>& v);
json to_json_value(const std::variant<std::monostate, std::string, plots::Number, plots::Spread>& v);
template <Model T>
json to_json_value(const T& v);

template <class T>
json to_json_value(const std::optional<T>& v) {
  return v ? to_json_value(*v) : json();
}
template <class T>
json to_json_value(const std::vector<T>& v) {
  json list = json::array();
  for (const T& entry : v) list.push_back(to_json_value(entry));
  return list;
}
template <class A, class B>
json to_json_value(const std::pair<A, B>& v) {
  json pair = json::array();
  pair.push_back(to_json_value(v.first));
  pair.push_back(to_json_value(v.second));
  return pair;
}
template <class T>
json to_json_value(const std::map<std::string, T>& v) {
  json object = json::object();
  for (const auto& [key, entry] : v) object[key] = to_json_value(entry);
  return object;
}
json to_json_value(const std::variant<std::monostate, std::string, plots::Number, plots::Spread>& v) {
  return std::visit(
      [](const auto& content) {
        using T = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return json();
        else
          return to_json_value(content);
      },
      v);
}
/// What is empty, none or zero is left out.
bool is_default(const json& v) {
  return v.is_null() || (v.is_boolean() && !v.get<bool>()) || (v.is_string() && v.get_ref<const std::string&>().empty()) ||
         ((v.is_array() || v.is_object()) && v.empty());
}
template <Model T>
json to_json_value(const T& v) {
  json object = json::object();
  std::apply(
      [&](const auto&... member) {
        const auto add = [&](const char* name, json value) {
          if (!is_default(value)) object[name] = std::move(value);
        };
        (add(member.name, to_json_value(v.*(member.place))), ...);
      },
      Members<T>::list);
  return object;
}

void read(const json& j, bool& v) { v = j.get<bool>(); }
void read(const json& j, int& v) { v = j.get<int>(); }
void read(const json& j, std::int64_t& v) { v = j.get<std::int64_t>(); }
void read(const json& j, std::size_t& v) { v = j.get<std::size_t>(); }
void read(const json& j, double& v) {
  v = j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>();
}
void read(const json& j, std::string& v) { v = j.get<std::string>(); }
template <class T>
  requires std::is_enum_v<T>
void read(const json& j, T& v) {
  v = static_cast<T>(j.get<int>());
}
template <class T>
void read(const json& j, std::optional<T>& v);
template <class T>
void read(const json& j, std::vector<T>& v);
template <class A, class B>
void read(const json& j, std::pair<A, B>& v);
template <class T>
void read(const json& j, std::map<std::string, T>& v);
void read(const json& j, std::variant<std::monostate, std::string, plots::Number, plots::Spread>& v);
template <Model T>
void read(const json& j, T& v);

template <class T>
void read(const json& j, std::optional<T>& v) {
  if (j.is_null()) return;
  v.emplace();
  read(j, *v);
}
template <class T>
void read(const json& j, std::vector<T>& v) {
  for (const json& entry : j) {
    v.emplace_back();
    read(entry, v.back());
  }
}
template <class A, class B>
void read(const json& j, std::pair<A, B>& v) {
  read(j.at(0), v.first);
  read(j.at(1), v.second);
}
template <class T>
void read(const json& j, std::map<std::string, T>& v) {
  for (const auto& [key, entry] : j.items()) read(entry, v[key]);
}
void read(const json& j, std::variant<std::monostate, std::string, plots::Number, plots::Spread>& v) {
  if (j.is_string()) {
    v = j.get<std::string>();
  } else if (j.is_object() && j.contains("median")) {
    plots::Spread s;
    read(j, s);
    v = s;
  } else if (j.is_object()) {
    plots::Number n;
    read(j, n);
    v = n;
  }
}
template <Model T>
void read(const json& j, T& v) {
  std::apply(
      [&](const auto&... member) {
        const auto take = [&](const char* name, auto& place) {
          if (const auto found = j.find(name); found != j.end()) read(*found, place);
        };
        (take(member.name, v.*(member.place)), ...);
      },
      Members<T>::list);
}

template <class Page>
Page page_of(const json& j) {
  Page page;
  read(j, page);
  return page;
}

}  // namespace

json model_json(const IndexPage& page) { return to_json_value(page); }
json model_json(const ClaimsPage& page) { return to_json_value(page); }
json model_json(const ClaimPage& page) { return to_json_value(page); }
json model_json(const ExhibitPage& page) { return to_json_value(page); }
json model_json(const PaperPage& page) { return to_json_value(page); }
json model_json(const AlgorithmPage& page) { return to_json_value(page); }
json model_json(const ProblemPage& page) { return to_json_value(page); }
json model_json(const WhichPage& page) { return to_json_value(page); }
json model_json(const TextPage& page) { return to_json_value(page); }
template <>
IndexPage model_of(const json& j) {
  return page_of<IndexPage>(j);
}
template <>
ClaimPage model_of(const json& j) {
  return page_of<ClaimPage>(j);
}
template <>
ExhibitPage model_of(const json& j) {
  return page_of<ExhibitPage>(j);
}
template <>
AlgorithmPage model_of(const json& j) {
  return page_of<AlgorithmPage>(j);
}
template <>
WhichPage model_of(const json& j) {
  return page_of<WhichPage>(j);
}

}  // namespace dpsosp::report
