// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/accounting/tree.hpp"

#include "account_batch.hpp"
#include "account_request.hpp"
#include "commands.hpp"

namespace dpsosp {
namespace {

using Question = AccountRequest::Question;

struct Answer {
  double amount;
  double delta;
  Guarantee guarantee;
};

double least_amount(const AccountRequest& request) {
  const EventFamily family = [&](double z) { return request.events(request.amount_at(z)); };
  return request.amount_at(smallest_noise_multiplier(
      family, request.adjacency, request.epsilon, request.delta, request.options));
}

Answer answer(const AccountRequest& request) {
  if (request.question == Question::delta) {
    const auto mu = gaussian_mu(request.events(request.amount));
    const Accountant accountant = request.options.accountant;
    if (!mu || (accountant != Accountant::analytic && accountant != Accountant::tightest))
      throw UnsupportedError(
          "account: delta is found by analytic, for unsampled Gaussian noise only");
    return {
        request.amount, gaussian_delta(request.epsilon, *mu), {request.epsilon, "analytic", {}}};
  }
  const double amount =
      request.question == Question::amount ? least_amount(request) : request.amount;
  return {amount,
          request.delta,
          epsilon_of(request.events(amount), request.adjacency, request.delta, request.options)};
}

std::string_view neighbours(Adjacency adjacency) {
  switch (adjacency) {
    case Adjacency::replace_one:
      return "data sets that differ in one record";
    case Adjacency::add_remove:
      return "data sets with one record more or less";
    case Adjacency::zero_out:
      return "data sets with one contribution replaced by zero";
  }
  return {};
}

// relative width from which a bound is called loose
constexpr double kLoose = 0.01;

bool converts(const Guarantee& g) { return g.accountant == "rdp" || g.accountant == "zcdp"; }

std::string as_text(const AccountRequest& request, const Answer& a) {
  const auto quantities = request.quantities(a.amount);
  std::string out;
  switch (request.question) {
    case Question::epsilon:
      out = fmt::format("epsilon {:.10g} at delta {:g}", a.guarantee.epsilon, a.delta);
      break;
    case Question::delta:
      out = fmt::format("delta {:.10g} at epsilon {:g}", a.delta, a.guarantee.epsilon);
      break;
    case Question::amount:
      out = fmt::format("{} {} for epsilon {:.10g} at delta {:g}",
                        quantities[0].first,
                        quantities[0].second,
                        a.guarantee.epsilon,
                        a.delta);
      break;
  }
  out += fmt::format(
      "\n  between {} ({})\n", neighbours(request.adjacency), name_of(request.adjacency));
  out += request.mechanism == AccountRequest::Mechanism::tree
             ? fmt::format("  tree over {} leaves, {} nodes a record",
                           request.steps,
                           tree_depth(request.steps))
             : fmt::format("  {} x {}", request.steps, name_of(request.mechanism));
  if (request.sampling != AccountRequest::Sampling::none)
    out += fmt::format(", {} sampling at rate {:g}", name_of(request.sampling), request.rate);
  for (const auto& [name, value] : quantities) {
    out += fmt::format(", {} {:.6g}", name, value);
    if (name == "noise_multiplier") out += " (std / clip norm)";
    if (name == "sensitivity_ratio") out += " (std / sensitivity)";
  }
  out += fmt::format("\n  accountant {}", a.guarantee.accountant);
  if (converts(a.guarantee))
    out += fmt::format(", conversion {}", name_of(request.options.conversion));
  if (a.guarantee.accountant == "rdp") out += fmt::format(", orders {}", request.orders);
  if (a.guarantee.order) out += fmt::format(", attained at order {:.6g}", *a.guarantee.order);
  if (const auto lower = a.guarantee.lower) {
    out += fmt::format(", between {:.10g} and epsilon", *lower);
    if (a.guarantee.epsilon - *lower > kLoose * a.guarantee.epsilon)
      out += " (loose: the finest lattice that is used narrows it no further)";
  }
  return out + "\n";
}

std::string as_json(const AccountRequest& request, const Answer& a) {
  nlohmann::ordered_json json;
  json["epsilon"] = a.guarantee.epsilon;
  json["delta"] = a.delta;
  for (const auto& [name, value] : request.quantities(a.amount)) json[name] = value;
  json["adjacency"] = name_of(request.adjacency);
  json["mechanism"] = name_of(request.mechanism);
  json["steps"] = request.steps;
  json["sampling"] = name_of(request.sampling);
  if (request.sampling != AccountRequest::Sampling::none) json["rate"] = request.rate;
  json["accountant"] = a.guarantee.accountant;
  if (converts(a.guarantee)) json["conversion"] = name_of(request.options.conversion);
  if (a.guarantee.accountant == "rdp") json["orders"] = request.orders;
  if (a.guarantee.order) json["order"] = *a.guarantee.order;
  if (a.guarantee.lower) json["epsilon_lower"] = *a.guarantee.lower;
  return json.dump(2) + "\n";
}

std::string account(const std::vector<std::string>& arguments) {
  const auto map = parse_account_options(arguments);
  if (map.count("help") != 0) {
    std::ostringstream out;
    out << account_options();
    return out.str();
  }
  if (map.count("batch") != 0) {
    if (arguments.size() > 2) throw InputError("account: --batch takes a file and no other option");
    return account_batch(map["batch"].as<std::string>());
  }
  const AccountRequest request(map);
  const Answer a = answer(request);
  return map.count("json") != 0 ? as_json(request, a) : as_text(request, a);
}

}  // namespace

int account_command(const Arguments& arguments) {
  std::cout << account(arguments);
  return 0;
}

}  // namespace dpsosp
