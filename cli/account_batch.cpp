// SPDX-License-Identifier: Apache-2.0
#include "account_batch.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/text_file.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/accounting/composition.hpp"
#include "dpsosp/privacy/accounting/tree.hpp"

#include "choices.hpp"

// Words for mechanisms and adjacencies here are those of the file, not of the command line.
namespace dpsosp::batch_file {
namespace {

enum class Mechanism { gaussian, poisson, fixed_size, tree, laplace, exponential, zcdp };
enum class Target { epsilon, delta, sigma, rho, rdp };

const Choices<Mechanism> kMechanisms{{"gaussian", Mechanism::gaussian},
                                     {"poisson_gaussian", Mechanism::poisson},
                                     {"wor_gaussian", Mechanism::fixed_size},
                                     {"tree_gaussian", Mechanism::tree},
                                     {"laplace", Mechanism::laplace},
                                     {"exponential", Mechanism::exponential},
                                     {"zcdp", Mechanism::zcdp}};
const Choices<Target> kTargets{{"epsilon", Target::epsilon},
                               {"delta", Target::delta},
                               {"sigma", Target::sigma},
                               {"rho", Target::rho},
                               {"rdp", Target::rdp}};
const Choices<Accountant> kAccountants{{"analytic_gaussian", Accountant::analytic},
                                       {"zcdp", Accountant::zcdp},
                                       {"rdp", Accountant::rdp},
                                       {"pld", Accountant::pld},
                                       {"pure", Accountant::pure}};
const Choices<std::optional<Adjacency>> kAdjacencies{{"any", {}},
                                                     {"add_remove", Adjacency::add_remove},
                                                     {"replace_one", Adjacency::replace_one},
                                                     {"replace_special", Adjacency::zero_out}};

// a conversion and the accountant that it belongs to
struct NamedConversion {
  Conversion conversion = Conversion::cks;
  std::optional<Accountant> accountant;
};
const Choices<NamedConversion> kConversions{
    {"balle_wang", {.accountant = Accountant::analytic}},
    {"cks", {Conversion::cks, Accountant::zcdp}},
    {"bs_basic", {Conversion::bs, Accountant::zcdp}},
    {"bs_sqrtpi", {Conversion::bs_sqrtpi, Accountant::zcdp}},
    {"cks_on_grid", {Conversion::cks, Accountant::rdp}},
    {"basic_composition", {.accountant = Accountant::pure}},
    {"none", {.accountant = Accountant::rdp}},
    {"", {}}};

const std::vector<std::string> kNeeded{
    "mechanism", "accountant", "conversion", "adjacency", "solve_for", "sigma",      "q",
    "steps",     "delta",      "eps0",       "rho",       "order",     "order_grid", "epsilon"};

// One line of the file, read and checked; answer() computes what it asks for.
class Row {
 public:
  Row(std::string where, std::map<std::string, std::string> fields);
  double answer() const;

 private:
  const std::string& text(const std::string& column) const { return fields_.at(column); }
  template <class Value>
  Value word(const std::string& column, const Choices<Value>& choices) const;
  double number(const std::string& column) const;

  Event event(double sigma) const;
  std::vector<CountedEvent> ledger(double sigma) const;
  bool has_sigma() const;
  void check_fields() const;

  std::string where_;
  std::map<std::string, std::string> fields_;  // by column
  Mechanism mechanism_;
  Target target_;
  std::optional<Adjacency> stated_adjacency_;
  Adjacency adjacency_;
  AccountOptions options_;
  std::int64_t steps_;
};

template <class Value>
Value Row::word(const std::string& column, const Choices<Value>& choices) const {
  try {
    return choose(column, text(column), choices);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where_, error.what()));
  }
}

double Row::number(const std::string& column) const {
  const auto value = parse_number<double>(where_, column, text(column), "a number");
  if (!std::isfinite(value)) reject(where_, column, value, "a finite number");
  return value;
}

Row::Row(std::string where, std::map<std::string, std::string> fields)
    : where_(std::move(where)),
      fields_(std::move(fields)),
      mechanism_(word("mechanism", kMechanisms)),
      target_(word("solve_for", kTargets)),
      stated_adjacency_(word("adjacency", kAdjacencies)),
      adjacency_(stated_adjacency_.value_or(Adjacency::replace_one)),
      steps_(parse_whole(where_, "steps", text("steps"), "an integer >= 1")) {
  if (steps_ < 1) reject(where_, "steps", text("steps"), "an integer >= 1");
  const NamedConversion conversion = word("conversion", kConversions);
  options_.accountant = word("accountant", kAccountants);
  options_.conversion = conversion.conversion;
  if (conversion.accountant && conversion.accountant != options_.accountant)
    reject(where_, "conversion", text("conversion"),
           "one that fits accountant " + text("accountant"));
  if (word("order_grid", Choices<bool>{{"", false}, {"default", false}, {"int_2_256", true}}))
    options_.orders = integer_orders(2, 256);
  for (const char* column : {"sigma", "q", "delta", "eps0", "rho", "order", "epsilon"})
    if (!text(column).empty()) number(column);
  check_fields();
}

// A Laplace row that goes through zCDP may mean the rho of Laplace or that of any pure mechanism:
// its `rho` column says which.
Event laplace_event(double epsilon, double rho, std::int64_t steps) {
  const Event pure = PureEvent{epsilon};
  const double pure_rho = static_cast<double>(steps) * zcdp(pure).value();
  return std::abs(rho - pure_rho) <= 1e-9 * pure_rho ? pure : Event{LaplaceEvent{epsilon}};
}

double zcdp_of(const CountedEvent& releases) {
  return static_cast<double>(releases.count) * zcdp(releases.event).value();
}

bool Row::has_sigma() const {
  return mechanism_ != Mechanism::laplace && mechanism_ != Mechanism::exponential &&
         mechanism_ != Mechanism::zcdp;
}

/// What is filled and not used would be believed to count.
void Row::check_fields() const {
  const auto filled = [&](const char* column) {
    const auto found = fields_.find(column);
    return found != fields_.end() && !found->second.empty();
  };
  const auto only = [&](const char* column, bool applies) {
    if (!applies && filled(column))
      reject(where_, column, text(column),
             fmt::format("none: mechanism {} has no {}", text("mechanism"), column));
  };
  const auto same = [&](const char* column, double value, std::string_view as) {
    if (filled(column) && !(std::abs(number(column) / value - 1) <= 1e-9))
      reject(where_, column, text(column), fmt::format("none, or {:.10g}, {}", value, as));
  };
  const bool is_sampled = mechanism_ == Mechanism::poisson || mechanism_ == Mechanism::fixed_size;
  const bool is_pure = mechanism_ == Mechanism::laplace || mechanism_ == Mechanism::exponential;
  only("sample_size", is_sampled);
  only("dataset_size", is_sampled);
  only("eps0", is_pure);
  only("rho", !is_sampled);
  if (!is_sampled) same("q", 1, "as nothing is sampled");
  if (is_sampled && (filled("sample_size") || filled("dataset_size")))
    same("q", number("sample_size") / number("dataset_size"), "sample_size/dataset_size");
  if (mechanism_ == Mechanism::laplace) {
    same("sigma", 1 / number("eps0"), "1/eps0");
    const Event laplace = LaplaceEvent{number("eps0")};
    if (filled("rho") &&
        std::holds_alternative<LaplaceEvent>(laplace_event(number("eps0"), number("rho"), steps_)))
      same("rho", zcdp_of({laplace, steps_}), "the zCDP of the releases");
  } else {
    only("sigma", has_sigma());
  }
  const auto steps = static_cast<double>(steps_);
  if (mechanism_ == Mechanism::zcdp) same("steps", 1, "as rho is the total");
  if (mechanism_ == Mechanism::exponential && filled("rho"))
    same("rho", steps * number("eps0") * number("eps0") / 8, "the zCDP of the releases");
  const bool is_gaussian = mechanism_ == Mechanism::gaussian || mechanism_ == Mechanism::tree;
  if (is_gaussian && target_ != Target::sigma && filled("rho"))
    same("rho", zcdp_of(ledger(number("sigma")).front()), "the zCDP of the releases");
}

Event Row::event(double sigma) const {
  switch (mechanism_) {
    case Mechanism::gaussian:
    case Mechanism::tree:
      return GaussianEvent{sigma};
    case Mechanism::poisson:
      if (!stated_adjacency_)
        throw UnsupportedError("adjacency any does not say what sigma of a sampled sum refers to");
      return PoissonGaussianEvent{number("q"),
                                  adjacency_ == Adjacency::replace_one ? 2 * sigma : sigma};
    case Mechanism::fixed_size:
      return FixedSizeGaussianEvent{number("q"), sigma, FixedSizeBound::forward_difference};
    case Mechanism::laplace:
      return options_.accountant == Accountant::zcdp && !text("rho").empty()
                 ? laplace_event(number("eps0"), number("rho"), steps_)
                 : Event{LaplaceEvent{number("eps0")}};
    case Mechanism::exponential:
      return ExponentialEvent{number("eps0")};
    case Mechanism::zcdp:
      return ZcdpEvent{number("rho")};
  }
  return {};
}

std::vector<CountedEvent> Row::ledger(double sigma) const {
  switch (mechanism_) {
    case Mechanism::tree:
      return {{event(sigma), tree_depth(steps_)}};
    case Mechanism::zcdp:
      return {{event(sigma), 1}};  // rho is the total
    default:
      return {{event(sigma), steps_}};
  }
}

double Row::answer() const try {
  const auto given = [&] { return ledger(has_sigma() ? number("sigma") : 1); };
  switch (target_) {
    case Target::rdp:
      return rdp(given().front().event, number("order"), adjacency_);
    case Target::epsilon:
      return epsilon_of(given(), adjacency_, number("delta"), options_).epsilon;
    case Target::delta:
      return delta_of({.events = given()}, adjacency_, number("epsilon"), options_).delta;
    case Target::sigma:
      if (!has_sigma()) throw UnsupportedError("the mechanism has no sigma to solve for");
      return smallest_noise_multiplier([&](double sigma) { return ledger(sigma); }, adjacency_,
                                       number("epsilon"), number("delta"), options_);
    case Target::rho:
      if (options_.accountant != Accountant::zcdp)
        throw UnsupportedError("rho is solved for by zcdp only");
      return rho_for(number("epsilon"), number("delta"), options_.conversion);
  }
  return 0;
} catch (const UnsupportedError&) {
  throw;
} catch (const InputError& error) {
  const std::string what = error.what();
  throw InputError(what.starts_with(where_) ? what : fmt::format("{}: {}", where_, what));
}

void check_header(const std::string& path, const std::vector<std::string>& columns) {
  for (const std::string& name : kNeeded)
    if (std::ranges::find(columns, name) == columns.end())
      throw InputError(fmt::format("{}, line 1: column '{}' is missing", path, name));
}

}  // namespace
}  // namespace dpsosp::batch_file

namespace dpsosp {

std::string account_batch(const std::string& path) {
  const std::string text = read_text(path);
  const std::vector<CsvRow> table = read_csv_text(path, text);
  if (table.empty()) throw InputError(fmt::format("{}: empty, expected a header line", path));
  const std::vector<std::string>& columns = table.front().fields;
  batch_file::check_header(path, columns);
  std::string out = fmt::format("{},answer,status\n", table.front().text);

  std::vector<std::pair<std::string_view, batch_file::Row>> rows;
  for (const CsvRow& line : std::span(table).subspan(1)) {
    if (line.text.empty()) continue;
    const std::string where = fmt::format("{}, line {}", path, line.line);
    if (line.fields.size() != columns.size())
      throw InputError(
          fmt::format("{}: {} fields, expected {}", where, line.fields.size(), columns.size()));
    std::map<std::string, std::string> by_column;
    for (std::size_t i = 0; i < columns.size(); ++i) by_column[columns[i]] = line.fields[i];
    rows.emplace_back(line.text, batch_file::Row(where, std::move(by_column)));
  }
  for (const auto& [written, row] : rows) {
    try {
      out += fmt::format("{},{},ok\n", written, row.answer());
    } catch (const UnsupportedError& error) {
      std::string why = error.what();
      std::ranges::replace(why, ',', ';');
      out += fmt::format("{},,unsupported: {}\n", written, why);
    }
  }
  return out;
}

}  // namespace dpsosp
