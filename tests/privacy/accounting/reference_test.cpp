// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/accounting/tree.hpp"
#include "near.hpp"
#include "paths.hpp"

// Every row of tests/data/accounting_vectors.csv; its README says what the columns mean.
namespace dpsosp::reference_test {
namespace {

struct Row : std::map<std::string, std::string> {
  double number(const std::string& column) const { return std::stod(at(column)); }
  bool is(const std::string& column, const std::string& value) const { return at(column) == value; }
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line + ',');
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

std::vector<Row> rows() {
  std::ifstream file(in_checkout("tests/data/accounting_vectors.csv"));
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = split(line);
  std::vector<Row> all;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = split(line);
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = fields.at(i);
    all.push_back(row);
  }
  return all;
}

Event event(const Row& row, double sigma) {
  const std::string mechanism = row.at("mechanism");
  if (mechanism == "poisson_gaussian") return PoissonGaussianEvent{row.number("q"), sigma};
  if (mechanism == "wor_gaussian")
    return FixedSizeGaussianEvent{row.number("q"), sigma, FixedSizeBound::forward_difference};
  if (mechanism == "exponential") return ExponentialEvent{row.number("eps0")};
  if (mechanism == "zcdp") return ZcdpEvent{row.number("rho")};
  if (mechanism == "laplace") {
    const double epsilon = row.number("eps0");
    // two rows in three use the exact rho of Laplace, the rest that of any pure mechanism
    const bool any_pure = row.at("check").find("eps0^2/2") != std::string::npos;
    return any_pure ? Event{PureEvent{epsilon}} : Event{LaplaceEvent{epsilon}};
  }
  return GaussianEvent{sigma};
}

AccountOptions options(const Row& row) {
  AccountOptions o;
  o.accountant = std::map<std::string, Accountant>{{"analytic_gaussian", Accountant::analytic},
                                                   {"zcdp", Accountant::zcdp},
                                                   {"rdp", Accountant::rdp},
                                                   {"pld", Accountant::pld},
                                                   {"pure", Accountant::pure}}
                     .at(row.at("accountant"));
  if (row.is("conversion", "bs_basic")) o.conversion = Conversion::bs;
  if (row.is("conversion", "bs_sqrtpi")) o.conversion = Conversion::bs_sqrtpi;
  if (row.is("order_grid", "int_2_256")) o.orders = integer_orders(2, 256);
  return o;
}

Adjacency adjacency_of(const Row& row) {
  return row.is("adjacency", "add_remove")        ? Adjacency::add_remove
         : row.is("adjacency", "replace_special") ? Adjacency::zero_out
                                                  : Adjacency::replace_one;
}

std::vector<CountedEvent> ledger(const Row& row, double sigma) {
  auto count = static_cast<std::int64_t>(row.number("steps"));
  if (row.is("mechanism", "tree_gaussian")) count = tree_depth(count);
  return {{event(row, sigma), count}};
}

double sigma_of(const Row& row) { return row.at("sigma").empty() ? 1 : row.number("sigma"); }

Guarantee guarantee(const Row& row) {
  return epsilon_of(ledger(row, sigma_of(row)), adjacency_of(row), row.number("delta"),
                    options(row));
}

double answer(const Row& row) {
  const Adjacency adjacency = adjacency_of(row);
  const AccountOptions o = options(row);
  const double sigma = sigma_of(row);
  const std::string solve_for = row.at("solve_for");
  if (solve_for == "rdp") return rdp(event(row, sigma), row.number("order"), adjacency);
  if (solve_for == "rho") return rho_for(row.number("epsilon"), row.number("delta"), o.conversion);
  if (solve_for == "delta")
    return gaussian_delta(row.number("epsilon"), gaussian_mu(ledger(row, sigma)).value());
  if (solve_for == "sigma")
    return smallest_noise_multiplier([&](double z) { return ledger(row, z); }, adjacency,
                                     row.number("epsilon"), row.number("delta"), o);
  return guarantee(row).epsilon;
}

TEST(AccountingReference, MatchesEveryRowWithinTolerance) {
  int met = 0;
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.at("id"));
    const std::string target = row.is("solve_for", "rdp") ? "epsilon" : row.at("solve_for");
    EXPECT_TRUE(relative(answer(row), row.number(target), row.number("rel_tol")));
    ++met;
  }
  EXPECT_EQ(met, 271);
}

// No bound may lie below a proved lower bound.
TEST(AccountingReference, PldBoundsAgreeWithProvedBounds) {
  int looked_at = 0;
  for (const Row& row : rows()) {
    if (!row.is("accountant", "pld") || row.at("epsilon_lower").empty()) continue;
    SCOPED_TRACE(row.at("id"));
    const Guarantee g = guarantee(row);
    EXPECT_GE(g.epsilon, row.number("epsilon_lower"));
    EXPECT_LE(g.lower.value(), row.number("epsilon"));
    ++looked_at;
  }
  EXPECT_EQ(looked_at, 35);
}

// The tolerances are tight enough to notice noise that is off by one in ten thousand.
TEST(AccountingReference, DetectsSlightlyWrongNoiseInEverySampledRow) {
  int noticed = 0;
  int looked_at = 0;
  for (Row row : rows()) {
    if (row.is("accountant", "pld") || row.is("solve_for", "sigma")) continue;
    if (!row.is("mechanism", "poisson_gaussian") && !row.is("mechanism", "wor_gaussian")) continue;
    row["sigma"] = std::to_string(row.number("sigma") * 1.0001);
    ++looked_at;
    if (!agrees(answer(row), row.number("epsilon"), row.number("rel_tol"))) ++noticed;
  }
  EXPECT_EQ(noticed, looked_at);
  EXPECT_GT(looked_at, 80);
}

}  // namespace
}  // namespace dpsosp::reference_test
