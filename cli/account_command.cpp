// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dpsosp/core/text_file.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/accounting/pld.hpp"
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

/// The mechanism with its noise.
std::string own_text(const AccountRequest& request, double amount) {
  std::string out = request.mechanism == AccountRequest::Mechanism::tree
                        ? fmt::format("  tree over {} leaves, {} nodes a record",
                                      request.steps,
                                      tree_depth(request.steps))
                        : fmt::format("  {} x {}", request.steps, name_of(request.mechanism));
  if (request.sampling != AccountRequest::Sampling::none)
    out += fmt::format(", {} sampling at rate {:g}", name_of(request.sampling), request.rate);
  for (const auto& [name, value] : request.quantities(amount)) {
    out += fmt::format(", {} {:.6g}", name, value);
    if (name == "noise_multiplier") out += " (std / clip norm)";
    if (name == "sensitivity_ratio") out += " (std / sensitivity)";
  }
  return out;
}

std::string accountant_text(const AccountRequest& request, const Guarantee& g) {
  std::string out = fmt::format("  accountant {}", g.accountant);
  if (converts(g)) out += fmt::format(", conversion {}", name_of(request.options.conversion));
  if (g.accountant == "rdp") out += fmt::format(", orders {}", request.orders);
  if (g.order) out += fmt::format(", attained at order {:.6g}", *g.order);
  if (g.lower) {
    out += fmt::format(", between {:.10g} and epsilon", *g.lower);
    if (g.epsilon - *g.lower > kLoose * g.epsilon)
      out += " (loose: the finest lattice that is used narrows it no further)";
  }
  return out;
}

/// What a pair of neighbours of some mechanism with these events needs at least; none where it
/// cannot be computed.
std::optional<double> attained(const AccountRequest& request,
                               const std::vector<CountedEvent>& events,
                               double delta) {
  try {
    return attained_epsilon(events, request.adjacency, delta, request.options.tolerance);
  } catch (const InputError&) {
    return {};
  }
}

std::string interval_text(std::optional<double> attained, double epsilon) {
  if (!attained) return "  no interval: what these events attain is not computed";
  return fmt::format(
      "  interval [{:.10g}, {:.10g}]: a mechanism with these events attains the lower end",
      std::min(*attained, epsilon),
      epsilon);
}

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
  if (request.question != Question::delta)  // whose epsilon is given
    out += '\n' +
           interval_text(attained(request, request.events(a.amount), a.delta), a.guarantee.epsilon);
  return fmt::format("{}\n  between {} ({})\n{}\n{}\n",
                     out,
                     neighbours(request.adjacency),
                     name_of(request.adjacency),
                     own_text(request, a.amount),
                     accountant_text(request, a.guarantee));
}

using Json = nlohmann::ordered_json;

Json own_json(const AccountRequest& request, double amount) {
  Json json;
  for (const auto& [name, value] : request.quantities(amount)) json[name] = value;
  json["mechanism"] = name_of(request.mechanism);
  json["steps"] = request.steps;
  json["sampling"] = name_of(request.sampling);
  if (request.sampling != AccountRequest::Sampling::none) json["rate"] = request.rate;
  return json;
}

/// \param events  of the answer's epsilon; empty where epsilon was given
Json shared_json(const AccountRequest& request,
                 const Answer& a,
                 const std::vector<CountedEvent>& events) {
  Json json{{"epsilon", a.guarantee.epsilon},
            {"delta", a.delta},
            {"adjacency", name_of(request.adjacency)},
            {"accountant", a.guarantee.accountant}};
  if (converts(a.guarantee)) json["conversion"] = name_of(request.options.conversion);
  if (a.guarantee.accountant == "rdp") json["orders"] = request.orders;
  if (a.guarantee.order) json["order"] = *a.guarantee.order;
  if (a.guarantee.lower) json["epsilon_lower"] = *a.guarantee.lower;
  if (events.empty()) return json;
  if (const auto least = attained(request, events, a.delta))
    json["epsilon_attained"] = std::min(*least, a.guarantee.epsilon);
  return json;
}

std::string as_json(const AccountRequest& request, const Answer& a) {
  Json json = shared_json(
      request,
      a,
      request.question == Question::delta ? std::vector<CountedEvent>() : request.events(a.amount));
  json.update(own_json(request, a.amount));
  return json.dump(2) + "\n";
}

/// Options that belong to one mechanism of a sequence.
constexpr std::array<std::string_view, 9> kOfOne{"mechanism",
                                                 "noise-multiplier",
                                                 "sensitivity-ratio",
                                                 "eps0",
                                                 "rho",
                                                 "steps",
                                                 "sampling",
                                                 "rate",
                                                 "fixed-size-bound"};

/// Whether an option was given, and not by default.
bool is_given(const boost::program_options::variables_map& map, std::string_view name) {
  const auto& value = map[std::string(name)];
  return !value.empty() && !value.defaulted();
}

/// epsilon of all the mechanisms of a file together.
std::string account_sequence(const std::vector<std::string>& arguments,
                             const boost::program_options::variables_map& map) {
  const std::string path = map["sequence"].as<std::string>();
  for (const std::string_view name : kOfOne)
    if (is_given(map, name))
      throw InputError(
          fmt::format("account: --{} belongs to a line of --sequence, not to the command", name));
  for (const char* name : {"epsilon", "calibrate", "batch"})
    if (map.count(name) != 0)
      throw InputError(
          fmt::format("account: --{} beside --sequence, which has epsilon at --delta alone", name));
  std::istringstream file(read_text(path));
  std::vector<std::string> common;  // without --sequence FILE and --json
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k] == "--sequence")
      ++k;
    else if (!arguments[k].starts_with("--sequence=") && arguments[k] != "--json")
      common.push_back(arguments[k]);
  }
  std::vector<AccountRequest> requests;
  std::vector<CountedEvent> events;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> own{std::istream_iterator<std::string>(words), {}};
    if (own.empty()) continue;
    try {
      const auto of_line = parse_account_options(own);
      for (const auto& [name, value] : of_line)
        if (!value.defaulted() && std::ranges::find(kOfOne, name) == kOfOne.end())
          throw InputError(fmt::format("account: --{} belongs to the command", name));
      std::ranges::copy(common, std::back_inserter(own));
      const AccountRequest& request = requests.emplace_back(parse_account_options(own));
      std::ranges::copy(request.events(request.amount), std::back_inserter(events));
    } catch (const std::runtime_error& e) {
      throw InputError(fmt::format("{}:{}: {}", path, number, e.what()));
    }
  }
  if (requests.empty()) throw InputError(fmt::format("account: {} names no mechanism", path));
  const AccountRequest& any = requests.front();
  const Answer all{0.0, any.delta, epsilon_of(events, any.adjacency, any.delta, any.options)};
  if (map.count("json") != 0) {
    auto json = shared_json(any, all, events);
    for (const AccountRequest& request : requests)
      json["sequence"].push_back(own_json(request, request.amount));
    return json.dump(2) + "\n";
  }
  std::string out =
      fmt::format("epsilon {:.10g} at delta {:g}\n{}\n  between {} ({})\n",
                  all.guarantee.epsilon,
                  all.delta,
                  interval_text(attained(any, events, all.delta), all.guarantee.epsilon),
                  neighbours(any.adjacency),
                  name_of(any.adjacency));
  for (const AccountRequest& request : requests) out += own_text(request, request.amount) + "\n";
  return out + accountant_text(any, all.guarantee) + "\n";
}

std::string account(const std::vector<std::string>& arguments) {
  const auto map = parse_account_options(arguments);
  if (map.count("batch") != 0) {
    if (arguments.size() > 2) throw InputError("account: --batch takes a file and no other option");
    return account_batch(map["batch"].as<std::string>());
  }
  if (map.count("sequence") != 0) return account_sequence(arguments, map);
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
