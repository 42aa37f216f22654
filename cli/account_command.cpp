// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/accounting/tree.hpp"

#include "account_batch.hpp"
#include "choices.hpp"
#include "commands.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;

enum class Mechanism { gaussian, laplace, exponential, zcdp, tree };
enum class Sampling { none, poisson, fixed };

const Choices<Mechanism> kMechanisms{{"gaussian", Mechanism::gaussian},
                                     {"laplace", Mechanism::laplace},
                                     {"exponential", Mechanism::exponential},
                                     {"zcdp", Mechanism::zcdp},
                                     {"tree", Mechanism::tree}};
const Choices<Sampling> kSamplings{
    {"none", Sampling::none}, {"poisson", Sampling::poisson}, {"fixed", Sampling::fixed}};
const Choices<Adjacency> kAdjacencies{{"replace_one", Adjacency::replace_one},
                                      {"add_remove", Adjacency::add_remove},
                                      {"zero_out", Adjacency::zero_out}};
const Choices<Accountant> kAccountants{{"best", Accountant::best_of},
                                       {"zcdp", Accountant::zcdp},
                                       {"rdp", Accountant::rdp},
                                       {"analytic", Accountant::analytic},
                                       {"pure", Accountant::pure},
                                       {"pld", Accountant::pld}};
const Choices<Conversion> kConversions{
    {"cks", Conversion::cks}, {"bs", Conversion::bs}, {"bs_sqrtpi", Conversion::bs_sqrtpi}};
const Choices<FixedSizeBound> kBounds{{"tightest", FixedSizeBound::tightest},
                                      {"forward_difference", FixedSizeBound::forward_difference}};

po::options_description described() {
  const auto text = [] { return po::value<std::string>(); };
  const auto text_or = [](const char* value) {
    return po::value<std::string>()->default_value(value);
  };
  po::options_description options(
      "dpsosp account: epsilon of a sequence of mechanisms, or its noise");
  options.add_options()                                                                         //
      ("mechanism", text(), "gaussian, laplace, exponential, zcdp or tree (binary-tree sums)")  //
      ("noise-multiplier", text(), "noise std (Laplace: scale) / clip norm of one record")      //
      ("sensitivity-ratio",
       text(),
       "the same / sensitivity, which is twice the clip norm under replace_one")            //
      ("eps0", text(), "epsilon of one laplace or exponential release")                     //
      ("rho", text(), "rho of one zcdp release")                                            //
      ("steps", text_or("1"), "releases; leaves of a tree")                                 //
      ("sampling", text_or("none"), "none, poisson, or fixed (size, without replacement)")  //
      ("rate", text(), "sampling rate in (0, 1]")                                           //
      ("fixed-size-bound", text_or("tightest"), "tightest or forward_difference")           //
      ("delta", text(), "delta of (epsilon, delta)-DP, in (0, 1)")                          //
      ("epsilon", text(), "target of --calibrate; beside a noise, asks for delta")          //
      ("calibrate", "least noise (largest eps0 or rho) that meets --epsilon")               //
      ("adjacency", text_or("replace_one"), "replace_one, add_remove or zero_out")          //
      ("accountant", text_or("best"), "best, zcdp, rdp, analytic, pure or pld")             //
      ("conversion", text_or("cks"), "cks, bs or bs_sqrtpi")                                //
      ("orders", text_or("default"), "Renyi orders: default or int_2_256")                  //
      ("json", "print JSON")                                                                //
      ("batch", text(), "answer every row of a CSV file in the reference format")           //
      ("help", "this text");
  return options;
}

po::variables_map parse(const std::vector<std::string>& arguments,
                        const po::options_description& options) try {
  namespace style = po::command_line_style;
  po::variables_map map;
  po::store(po::command_line_parser(arguments)
                .options(options)
                .positional({})
                .style(style::allow_long | style::long_allow_next | style::long_allow_adjacent)
                .run(),
            map);
  return map;
} catch (const po::unknown_option& error) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  std::string name = error.get_option_name();
  reject_unknown(
      "option", "--" + name.substr(std::min(name.find_first_not_of('-'), name.size())), names);
} catch (const po::too_many_positional_options_error&) {
  throw InputError("account: an argument without an option name; expected --name value");
} catch (const po::error& error) {
  throw InputError(fmt::format("account: {}", error.what()));
}

// What the options say, checked.
class Request {
 public:
  explicit Request(const po::variables_map& map);

  bool calibrates() const { return calibrate_; }
  bool asks_for_delta() const { return !calibrate_ && epsilon_.has_value(); }
  double epsilon() const { return *epsilon_; }
  double delta() const { return delta_; }
  Adjacency adjacency() const { return adjacency_; }
  const AccountOptions& options() const { return options_; }
  std::vector<CountedEvent> events() const { return events(scale_); }
  /// The sequence when the free quantity is set by z: noise_multiplier = z, eps0 = 1/z or rho =
  /// 1/z².
  std::vector<CountedEvent> events(double z) const;
  /// Names and values of the free quantity at z; the first is the one asked for.
  std::vector<std::pair<std::string, double>> quantities(double z) const;
  std::string description(double z) const;
  double scale() const { return scale_; }

 private:
  std::string text(const char* name) const { return map_[name].as<std::string>(); }
  bool has(const char* name) const { return map_.count(name) != 0; }
  double number(const char* name, std::string_view expected) const;
  double positive(const char* name) const;
  double unit(const char* name, bool with_one) const;
  void refuse_unless(bool fits, const char* name, std::string_view why) const;
  void read_scale();
  bool has_noise() const {
    return mechanism_ == Mechanism::gaussian || mechanism_ == Mechanism::tree;
  }
  /// sensitivity of a sum / clip norm of one record
  double sensitivity() const { return adjacency_ == Adjacency::replace_one ? 2 : 1; }

  const po::variables_map& map_;
  Mechanism mechanism_;
  Sampling sampling_;
  Adjacency adjacency_;
  FixedSizeBound bound_;
  AccountOptions options_;
  std::int64_t steps_;
  double rate_ = 1;
  double delta_ = 0;
  std::optional<double> epsilon_;
  bool calibrate_;
  double scale_ = 0;
};

double Request::number(const char* name, std::string_view expected) const {
  return parse_number<double>("account", fmt::format("--{}", name), text(name), expected);
}

double Request::positive(const char* name) const {
  constexpr std::string_view expected = "a finite number > 0";
  const double value = number(name, expected);
  if (!(value > 0 && std::isfinite(value)))
    reject("account", fmt::format("--{}", name), value, expected);
  return value;
}

double Request::unit(const char* name, bool with_one) const {
  const std::string_view expected = with_one ? "a number in (0, 1]" : "a number in (0, 1)";
  const double value = number(name, expected);
  if (!(value > 0 && (value < 1 || (with_one && value == 1))))
    reject("account", fmt::format("--{}", name), value, expected);
  return value;
}

void Request::refuse_unless(bool fits, const char* name, std::string_view why) const {
  if (has(name) && !fits) throw InputError(fmt::format("account: --{} is for {}", name, why));
}

Request::Request(const po::variables_map& map)
    : map_(map),
      mechanism_((has("mechanism")
                      ? void()
                      : throw InputError("account: --mechanism is missing, expected one of "
                                         "gaussian, laplace, exponential, zcdp, tree"),
                  choose("mechanism", text("mechanism"), kMechanisms))),
      sampling_(choose("sampling", text("sampling"), kSamplings)),
      adjacency_(choose("adjacency", text("adjacency"), kAdjacencies)),
      bound_(choose("fixed-size-bound", text("fixed-size-bound"), kBounds)),
      options_{.accountant = choose("accountant", text("accountant"), kAccountants),
               .conversion = choose("conversion", text("conversion"), kConversions)},
      steps_(parse_number<std::int64_t>("account", "--steps", text("steps"), "an integer >= 1")),
      calibrate_(has("calibrate")) {
  if (choose("orders", text("orders"), Choices<bool>{{"default", false}, {"int_2_256", true}}))
    options_.orders = integer_orders(2, 256);
  if (steps_ < 1) reject("account", "--steps", text("steps"), "an integer >= 1");
  refuse_unless(sampling_ != Sampling::none, "rate", "--sampling poisson or fixed");
  if (sampling_ != Sampling::none) {
    if (mechanism_ != Mechanism::gaussian)
      throw UnsupportedError(fmt::format("account: sampling is accounted for gaussian only, not {}",
                                         text("mechanism")));
    if (!has("rate")) throw InputError("account: --rate is missing, expected a number in (0, 1]");
    rate_ = unit("rate", true);
  }
  if (has("epsilon")) epsilon_ = positive("epsilon");
  if (calibrate_ && !epsilon_) throw InputError("account: --calibrate needs the target --epsilon");
  if (has("delta")) delta_ = unit("delta", false);
  read_scale();
  if (asks_for_delta() && has("delta"))
    throw InputError(
        "account: --epsilon beside --delta and a noise asks nothing; add --calibrate or leave one "
        "out");
  if (!has("delta") && !asks_for_delta() && options_.accountant != Accountant::pure)
    throw InputError("account: --delta is missing, expected a number in (0, 1)");
}

void Request::read_scale() {
  const bool by_eps0 = mechanism_ == Mechanism::laplace || mechanism_ == Mechanism::exponential;
  const bool by_noise = has_noise() || mechanism_ == Mechanism::laplace;
  refuse_unless(by_noise, "noise-multiplier", "--mechanism gaussian, tree or laplace");
  refuse_unless(by_noise, "sensitivity-ratio", "--mechanism gaussian, tree or laplace");
  refuse_unless(by_eps0, "eps0", "--mechanism laplace or exponential");
  refuse_unless(mechanism_ == Mechanism::zcdp, "rho", "--mechanism zcdp");
  const auto given = map_.count("noise-multiplier") + map_.count("sensitivity-ratio") +
                     map_.count("eps0") + map_.count("rho");
  if (given > 1) throw InputError("account: the noise is given twice");
  if (given == 0 && epsilon_) calibrate_ = true;  // nothing else can be meant
  if (calibrate_ && given > 0)
    throw InputError("account: --calibrate finds the noise, so none may be given");
  if (calibrate_) return;
  if (given == 0) {
    const char* missing = by_noise ? "noise-multiplier" : by_eps0 ? "eps0" : "rho";
    throw InputError(
        fmt::format("account: --{} is missing, expected a finite number > 0", missing));
  }
  if (has("noise-multiplier")) scale_ = positive("noise-multiplier");
  if (has("sensitivity-ratio")) scale_ = positive("sensitivity-ratio") * sensitivity();
  if (has("eps0")) scale_ = (by_noise ? sensitivity() : 1) / positive("eps0");
  if (has("rho")) scale_ = 1 / std::sqrt(positive("rho"));
}

std::vector<CountedEvent> Request::events(double z) const {
  const double ratio = z / sensitivity();
  switch (mechanism_) {
    case Mechanism::gaussian:
      if (sampling_ == Sampling::poisson) return {{PoissonGaussianEvent{rate_, z}, steps_}};
      if (sampling_ == Sampling::fixed)
        return {{FixedSizeGaussianEvent{rate_, ratio, bound_}, steps_}};
      return {{GaussianEvent{ratio}, steps_}};
    case Mechanism::tree:
      return {{GaussianEvent{ratio}, tree_depth(steps_)}};
    case Mechanism::laplace:
      return {{LaplaceEvent{1 / ratio}, steps_}};
    case Mechanism::exponential:
      return {{ExponentialEvent{1 / z}, steps_}};
    case Mechanism::zcdp:
      return {{ZcdpEvent{1 / (z * z)}, steps_}};
  }
  return {};
}

std::vector<std::pair<std::string, double>> Request::quantities(double z) const {
  if (mechanism_ == Mechanism::exponential) return {{"eps0", 1 / z}};
  if (mechanism_ == Mechanism::zcdp) return {{"rho", 1 / (z * z)}};
  return {{"noise_multiplier", z}, {"sensitivity_ratio", z / sensitivity()}};
}

std::string Request::description(double z) const {
  std::string line = fmt::format("{} x {}", steps_, text("mechanism"));
  if (mechanism_ == Mechanism::tree)
    line = fmt::format("tree over {} leaves ({} nodes a record)", steps_, tree_depth(steps_));
  if (sampling_ != Sampling::none)
    line += fmt::format(", {} sampling at rate {}", text("sampling"), rate_);
  for (const auto& [name, value] : quantities(z)) {
    const std::string_view unit = name == "noise_multiplier"    ? " (std / clip norm)"
                                  : name == "sensitivity_ratio" ? " (std / sensitivity)"
                                                                : "";
    line += fmt::format(", {} {:.6g}{}", name, value, unit);
  }
  return line;
}

std::string_view meaning(Adjacency adjacency) {
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

struct Answer {
  double scale;
  double delta;
  Guarantee guarantee;
  std::vector<std::pair<std::string, double>> first;  ///< what was asked for
};

Answer delta_answer(const Request& request) {
  const std::vector<CountedEvent> events = request.events();
  const Accountant accountant = request.options().accountant;
  const auto mu = gaussian_mu(events);
  if (!mu || (accountant != Accountant::analytic && accountant != Accountant::best_of))
    throw UnsupportedError(
        "account: delta is answered for unsampled Gaussian noise by analytic only");
  const double delta = gaussian_delta(request.epsilon(), *mu);
  return {request.scale(), delta, {request.epsilon(), "analytic", {}}, {{"delta", delta}}};
}

Answer answer(const Request& request) {
  if (request.asks_for_delta()) return delta_answer(request);
  double scale = request.scale();
  if (request.calibrates())
    scale = smallest_noise_multiplier([&](double z) { return request.events(z); },
                                      request.adjacency(),
                                      request.epsilon(),
                                      request.delta(),
                                      request.options());
  const Guarantee g =
      epsilon_of(request.events(scale), request.adjacency(), request.delta(), request.options());
  if (request.calibrates()) return {scale, request.delta(), g, {request.quantities(scale).front()}};
  return {scale, request.delta(), g, {{"epsilon", g.epsilon}}};
}

std::string as_text(const Request& request, const Answer& a) {
  const auto& [name, value] = a.first.front();
  std::string out;
  if (request.calibrates()) {
    out = fmt::format(
        "{} {}: epsilon {:.10g} at delta {:g}", name, value, a.guarantee.epsilon, a.delta);
  } else if (request.asks_for_delta()) {
    out = fmt::format("delta {:.10g} at epsilon {:g}", value, a.guarantee.epsilon);
  } else {
    out = fmt::format("epsilon {:.10g} at delta {:g}", value, a.delta);
  }
  out += fmt::format(" for {} ({})\n", meaning(request.adjacency()), name_of(request.adjacency()));
  out += fmt::format("accountant {}", a.guarantee.accountant);
  if (a.guarantee.order) out += fmt::format(", attained at order {:.6g}", *a.guarantee.order);
  return out + "\n" + request.description(a.scale) + "\n";
}

std::string as_json(const Request& request, const Answer& a) {
  nlohmann::ordered_json json;
  json["epsilon"] = a.guarantee.epsilon;
  json["delta"] = a.delta;
  json["adjacency"] = name_of(request.adjacency());
  json["accountant"] = a.guarantee.accountant;
  if (a.guarantee.order) json["order"] = *a.guarantee.order;
  for (const auto& [name, value] : request.quantities(a.scale)) json[name] = value;
  json["mechanism"] = request.description(a.scale);
  return json.dump(2) + "\n";
}

std::string account(const std::vector<std::string>& arguments) {
  const po::options_description options = described();
  const po::variables_map map = parse(arguments, options);
  if (map.count("help") != 0) {
    std::ostringstream out;
    out << options;
    return out.str();
  }
  if (map.count("batch") != 0) {
    if (arguments.size() > 2) throw InputError("account: --batch takes a file and no other option");
    return account_batch(map["batch"].as<std::string>());
  }
  const Request request(map);
  const Answer a = answer(request);
  return map.count("json") != 0 ? as_json(request, a) : as_text(request, a);
}

}  // namespace

int account_command(const std::vector<std::string>& arguments) {
  try {
    std::cout << account(arguments);
    return 0;
  } catch (const UnsupportedError& error) {
    std::cerr << error.what() << '\n';
    return 3;
  } catch (const InputError& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}

}  // namespace dpsosp
