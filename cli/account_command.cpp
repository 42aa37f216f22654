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
#include "dpsosp/privacy/accounting/composition.hpp"
#include "dpsosp/privacy/accounting/pld.hpp"
#include "dpsosp/privacy/accounting/tree.hpp"

#include "account_batch.hpp"
#include "account_request.hpp"
#include "commands.hpp"

namespace dpsosp {
namespace {

using Question = AccountRequest::Question;

/// What is asked of one mechanism, or of the lines of a file.
struct Asked {
  Question question;
  std::vector<AccountRequest> requests;  // >= 1, of one adjacency and accountant
  std::size_t unknown = 0;               // the one whose noise is asked for
  bool is_sequence = false;

  /// The one that knows everything that is given.
  const AccountRequest& shared() const { return requests[unknown]; }
  Composition with(double amount) const {
    Composition all;
    for (std::size_t k = 0; k < requests.size(); ++k)
      all.append(requests[k].events(k == unknown ? amount : requests[k].amount));
    return all;
  }
  Composition others() const {
    Composition all;
    for (std::size_t k = 0; k < requests.size(); ++k)
      if (k != unknown) all.append(requests[k].events(requests[k].amount));
    return all;
  }
  /// What is given, or that of the releases.
  double delta() const {
    return shared().delta == 0 ? delta_of_coins(with(shared().amount_at(1))) : shared().delta;
  }
};

struct Answer {
  double amount;  // of the unknown's noise
  double epsilon, delta;
  std::string accountant;
  std::optional<double> order, lower;  // lower: of epsilon or delta, whichever is asked for
};

double least_amount(const Asked& asked) {
  const AccountRequest& r = asked.shared();
  if (asked.requests.size() > 1) {
    const double spent = epsilon_of(asked.others(), r.adjacency, asked.delta(), r.options).epsilon;
    if (spent >= r.epsilon)
      throw InputError(fmt::format(
          "account: --epsilon = {:g}, expected more than {:g}, which the other mechanisms have",
          r.epsilon, spent));
  }
  const auto family = [&](double z) { return asked.with(r.amount_at(z)); };
  return r.amount_at(
      smallest_noise_multiplier(family, r.adjacency, r.epsilon, asked.delta(), r.options));
}

Answer answer(const Asked& asked) {
  const AccountRequest& r = asked.shared();
  if (asked.question == Question::delta) {
    const DeltaGuarantee g = delta_of(asked.with(r.amount), r.adjacency, r.epsilon, r.options);
    return {r.amount, r.epsilon, g.delta, g.accountant, g.order, g.lower};
  }
  const double amount = asked.question == Question::amount ? least_amount(asked) : r.amount;
  const Guarantee g = epsilon_of(asked.with(amount), r.adjacency, asked.delta(), r.options);
  return {amount, g.epsilon, asked.delta(), g.accountant, g.order, g.lower};
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

bool converts(const Answer& a) { return a.accountant == "rdp" || a.accountant == "zcdp"; }

/// The mechanism with its noise.
std::string own_text(const AccountRequest& request, double amount) {
  std::string out = request.mechanism == AccountRequest::Mechanism::tree
                        ? fmt::format("  tree over {} leaves, {} nodes a record", request.steps,
                                      tree_depth(request.steps))
                        : fmt::format("  {} x {}", request.steps, name_of(request.mechanism));
  if (request.sampling != AccountRequest::Sampling::none)
    out += fmt::format(", {} sampling at rate {:g}", name_of(request.sampling), request.rate);
  for (const auto& [name, value] : request.quantities(amount)) {
    out += fmt::format(", {} {:.6g}", name, value);
    const std::string_view noise =
        request.mechanism == AccountRequest::Mechanism::laplace ? "scale" : "std";
    if (name == "noise_multiplier") out += fmt::format(" ({} / clip norm)", noise);
    if (name == "sensitivity_ratio") out += fmt::format(" ({} / sensitivity)", noise);
  }
  return out;
}

std::string accountant_text(const Asked& asked, const Answer& a) {
  std::string out = fmt::format("  accountant {}", a.accountant);
  if (converts(a))
    out += fmt::format(", conversion {}", name_of(asked.shared().options.conversion));
  if (a.accountant == "rdp") out += fmt::format(", orders {}", asked.shared().orders);
  if (a.order) out += fmt::format(", attained at order {:.6g}", *a.order);
  if (!a.lower) return out;
  const bool of_delta = asked.question == Question::delta;
  const double upper = of_delta ? a.delta : a.epsilon;
  out += fmt::format(", between {:.10g} and {}", *a.lower, of_delta ? "delta" : "epsilon");
  if (upper - *a.lower > kLoose * upper)
    out += " (loose: the finest lattice that is used narrows it no further)";
  return out;
}

/// What a pair of neighbours of some mechanism with these events needs at least; none where delta
/// is asked for, or where it cannot be computed.
std::optional<double> attained(const Asked& asked, const Answer& a) {
  if (asked.question == Question::delta) return {};
  const AccountRequest& r = asked.shared();
  try {
    return std::min(
        attained_epsilon(asked.with(a.amount), r.adjacency, a.delta, r.options.tolerance),
        a.epsilon);
  } catch (const InputError&) {
    return {};
  }
}

std::string interval_text(std::optional<double> attained, double epsilon) {
  if (!attained) return "  no interval: what these events attain is not computed";
  return fmt::format(
      "  interval [{:.10g}, {:.10g}]: a mechanism with these events attains the lower end",
      *attained, epsilon);
}

double amount_of(const Asked& asked, const Answer& a, std::size_t k) {
  return k == asked.unknown ? a.amount : asked.requests[k].amount;
}

std::string as_text(const Asked& asked, const Answer& a) {
  const AccountRequest& r = asked.shared();
  const auto quantities = r.quantities(a.amount);
  std::string out;
  switch (asked.question) {
    case Question::epsilon:
      out = fmt::format("epsilon {:.10g} at delta {:g}", a.epsilon, a.delta);
      break;
    case Question::delta:
      out = fmt::format("delta {:.10g} at epsilon {:g}", a.delta, a.epsilon);
      break;
    case Question::amount:
      out = fmt::format(
          "{} {} {}for epsilon {:.10g} at delta {:g}", quantities[0].first, quantities[0].second,
          asked.is_sequence ? fmt::format("of {} ", name_of(r.mechanism)) : "", a.epsilon, a.delta);
      break;
  }
  if (asked.question != Question::delta)  // whose epsilon is given
    out += '\n' + interval_text(attained(asked, a), a.epsilon);
  out += fmt::format("\n  between {} ({})\n", neighbours(r.adjacency), name_of(r.adjacency));
  for (std::size_t k = 0; k < asked.requests.size(); ++k)
    out += own_text(asked.requests[k], amount_of(asked, a, k)) + '\n';
  return out + accountant_text(asked, a) + '\n';
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

std::string as_json(const Asked& asked, const Answer& a) {
  const AccountRequest& r = asked.shared();
  Json json{{"epsilon", a.epsilon},
            {"delta", a.delta},
            {"adjacency", name_of(r.adjacency)},
            {"accountant", a.accountant}};
  if (converts(a)) json["conversion"] = name_of(r.options.conversion);
  if (a.accountant == "rdp") json["orders"] = r.orders;
  if (a.order) json["order"] = *a.order;
  if (a.lower) json[asked.question == Question::delta ? "delta_lower" : "epsilon_lower"] = *a.lower;
  if (const auto least = attained(asked, a)) json["epsilon_attained"] = *least;
  for (std::size_t k = 0; k < asked.requests.size(); ++k) {
    Json own = own_json(asked.requests[k], amount_of(asked, a, k));
    if (!asked.is_sequence) {
      json.update(own);
    } else {
      if (asked.question == Question::amount && k == asked.unknown) own["calibrated"] = true;
      json["sequence"].push_back(own);
    }
  }
  return json.dump(2) + "\n";
}

using Map = boost::program_options::variables_map;

/// Options that belong to one mechanism of a sequence.
constexpr std::array<std::string_view, 13> kOfOne{"mechanism",
                                                  "noise-multiplier",
                                                  "sensitivity-ratio",
                                                  "eps0",
                                                  "delta0",
                                                  "rho",
                                                  "steps",
                                                  "sampling",
                                                  "rate",
                                                  "records",
                                                  "batch-size",
                                                  "epochs",
                                                  "fixed-size-bound"};
constexpr std::array<std::string_view, 4> kNoises{"noise-multiplier", "sensitivity-ratio", "eps0",
                                                  "rho"};

/// Whether an option was given, and not by default.
bool is_given(const Map& map, std::string_view name) {
  const auto& value = map[std::string(name)];
  return !value.empty() && !value.defaulted();
}

/// The options of one line of a sequence.
struct Line {
  int number;
  std::vector<std::string> words;
  bool has_noise;
};

std::vector<Line> lines_of(const std::string& path) {
  std::istringstream file(read_text(path));
  std::vector<Line> lines;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    std::istringstream in(text.substr(0, text.find('#')));
    const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    if (words.empty()) continue;
    try {
      const Map own = parse_account_options(words);
      for (const auto& [name, value] : own)
        if (!value.defaulted() && std::ranges::find(kOfOne, name) == kOfOne.end())
          throw InputError(fmt::format("account: --{} belongs to the command", name));
      lines.push_back({number, words, std::ranges::any_of(kNoises, [&](std::string_view name) {
                         return is_given(own, name);
                       })});
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}:{}: {}", path, number, e.what()));
    }
  }
  if (lines.empty()) throw InputError(fmt::format("account: {} names no mechanism", path));
  return lines;
}

Asked asked_of_sequence(const Map& map) {
  for (const std::string_view name : kOfOne)
    if (is_given(map, name))
      throw InputError(
          fmt::format("account: --{} belongs to a line of --sequence, not to the command", name));
  if (map.count("batch") != 0)
    throw InputError("account: --batch beside --sequence, expected one of them");
  const std::string path = map["sequence"].as<std::string>();
  const std::vector<Line> lines = lines_of(path);
  const auto unknowns = std::ranges::count(lines, false, &Line::has_noise);
  const bool calibrates =
      map.count("calibrate") != 0 || (map.count("epsilon") != 0 && unknowns > 0);
  if (calibrates && unknowns != 1)
    throw InputError(fmt::format(
        "account: {} of the {} mechanisms of {} have no noise, expected one: --calibrate "
        "finds its noise beside the others",
        unknowns, lines.size(), path));
  Asked asked{.question = Question::epsilon, .is_sequence = true};
  for (const Line& line : lines) {
    std::vector<std::string> words = line.words;
    const bool is_unknown = calibrates && !line.has_noise;
    for (const auto& [name, value] : map) {  // what the command says of all
      if (value.defaulted() || name == "sequence" || name == "json" || name == "calibrate")
        continue;
      if (name == "epsilon" && calibrates && !is_unknown) continue;
      words.insert(words.end(), {"--" + name, value.as<std::string>()});
    }
    try {
      asked.requests.emplace_back(parse_account_options(words));
    } catch (const UnsupportedError& e) {
      throw UnsupportedError(fmt::format("{}:{}: {}", path, line.number, e.what()));
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}:{}: {}", path, line.number, e.what()));
    }
    if (is_unknown) asked.unknown = asked.requests.size() - 1;
  }
  asked.question = asked.shared().question;
  return asked;
}

std::string account(const std::vector<std::string>& arguments) {
  const Map map = parse_account_options(arguments);
  if (map.count("batch") != 0 && map.count("sequence") == 0) {
    if (arguments.size() > 2)
      throw InputError(
          "account: --batch takes a file and no other option; the size of a batch is --batch-size");
    return account_batch(map["batch"].as<std::string>());
  }
  Asked asked{.question = Question::epsilon};
  if (map.count("sequence") != 0) {
    asked = asked_of_sequence(map);
  } else {
    asked.requests.emplace_back(map);
    asked.question = asked.shared().question;
  }
  const Answer a = answer(asked);
  return map.count("json") != 0 ? as_json(asked, a) : as_text(asked, a);
}

}  // namespace

int account_command(const Arguments& arguments) {
  std::cout << account(arguments);
  return 0;
}

}  // namespace dpsosp
