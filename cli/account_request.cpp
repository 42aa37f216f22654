// SPDX-License-Identifier: Apache-2.0
#include "account_request.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/privacy/accounting/tree.hpp"

#include "choices.hpp"
#include "commands.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;
using Mechanism = AccountRequest::Mechanism;
using Sampling = AccountRequest::Sampling;
using Question = AccountRequest::Question;

const Choices<Mechanism> kMechanisms{{"gaussian", Mechanism::gaussian},
                                     {"laplace", Mechanism::laplace},
                                     {"exponential", Mechanism::exponential},
                                     {"zcdp", Mechanism::zcdp},
                                     {"tree", Mechanism::tree},
                                     {"any", Mechanism::any}};
const Choices<Sampling> kSamplings{
    {"none", Sampling::none}, {"poisson", Sampling::poisson}, {"fixed", Sampling::fixed}};
const Choices<Adjacency> kAdjacencies{{"replace_one", Adjacency::replace_one},
                                      {"add_remove", Adjacency::add_remove},
                                      {"zero_out", Adjacency::zero_out}};
const Choices<Accountant> kAccountants{
    {"best", Accountant::tightest},     {"zcdp", Accountant::zcdp}, {"rdp", Accountant::rdp},
    {"analytic", Accountant::analytic}, {"pure", Accountant::pure}, {"pld", Accountant::pld}};
const Choices<Conversion> kConversions{
    {"cks", Conversion::cks}, {"bs", Conversion::bs}, {"bs_sqrtpi", Conversion::bs_sqrtpi}};
const Choices<FixedSizeBound> kBounds{{"tightest", FixedSizeBound::tightest},
                                      {"forward_difference", FixedSizeBound::forward_difference}};

constexpr std::string_view kCommand = "account";

bool has(const po::variables_map& map, const std::string& name) { return map.count(name) != 0; }

const std::string& text(const po::variables_map& map, const std::string& name,
                        std::string_view expected) {
  if (!has(map, name))
    throw InputError(fmt::format("{}: --{} is missing, expected {}", kCommand, name, expected));
  return map[name].as<std::string>();
}

template <class Value>
Value word(const po::variables_map& map, const std::string& name, const Choices<Value>& choices) {
  std::string names;
  for (const auto& choice : choices) names += (names.empty() ? "one of " : ", ") + choice.first;
  return choose(name, text(map, name, names), choices);
}

// a number in (0, upper), or (0, upper] if `closed`
double number(const po::variables_map& map, const std::string& name, double upper, bool closed,
              std::string_view expected) {
  const std::string option = "--" + name;
  const auto value = parse_number<double>(kCommand, option, text(map, name, expected), expected);
  if (!(value > 0 && (value < upper || (closed && value == upper))))
    reject(kCommand, option, value, expected);
  return value;
}

double not_negative(const po::variables_map& map, const std::string& name) {
  constexpr std::string_view expected = "a finite number >= 0";
  const auto value =
      parse_number<double>(kCommand, "--" + name, text(map, name, expected), expected);
  if (!(value >= 0 && value < HUGE_VAL)) reject(kCommand, "--" + name, value, expected);
  return value;
}

double positive(const po::variables_map& map, const std::string& name) {
  return number(map, name, HUGE_VAL, false, "a finite number > 0");
}

void refuse_unless(bool fits, const po::variables_map& map, const std::string& name,
                   std::string_view why) {
  if (has(map, name) && !fits)
    throw InputError(fmt::format("{}: --{} is for {}", kCommand, name, why));
}

template <class Value>
std::string_view name_in(const Choices<Value>& choices, Value value) {
  return std::ranges::find(choices, value, &std::pair<std::string, Value>::second)->first;
}

}  // namespace

const Description& account_description() {
  static const Description description{
      .name = "account",
      .summary = "epsilon or delta of a sequence of mechanisms, or the noise that it needs",
      .usage = {"--mechanism NAME NOISE --delta DELTA [OPTIONS]",
                "--mechanism NAME NOISE --epsilon EPSILON [OPTIONS]",
                "--mechanism NAME --epsilon EPSILON --delta DELTA --calibrate [OPTIONS]",
                "--sequence FILE, in place of --mechanism NAME and its NOISE", "--batch FILE.csv"},
      .examples =
          {{"dpsosp account --mechanism gaussian --noise-multiplier 2 --sampling poisson --rate "
            "0.01 --steps 1000 --delta 1e-5",
            "epsilon of a thousand steps of DP-SGD"},
           {"dpsosp account --mechanism gaussian --steps 400 --epsilon 2 --delta 1e-6 --calibrate",
            "the least noise with which 400 releases have epsilon 2"}},
      .groups = {
          {"the mechanism",
           {{.name = "mechanism",
             .value = "NAME",
             .meaning =
                 "gaussian, laplace, exponential, zcdp, tree (binary-tree sums), or any: one "
                 "of which only --eps0 and --delta0 are known",
             .offers =
                 {.words =
                      {{"gaussian"}, {"laplace"}, {"exponential"}, {"zcdp"}, {"tree"}, {"any"}}}},
            {.name = "steps",
             .value = "N",
             .meaning = "releases; leaves of a tree",
             .standard = "1"},
            {.name = "sampling",
             .value = "NAME",
             .meaning = "none, poisson, or fixed (size, without replacement); of gaussian and "
                        "laplace",
             .standard = "none",
             .offers = {.words = {{"none"}, {"poisson"}, {"fixed"}}}},
            {.name = "rate", .value = "Q", .meaning = "sampling rate in (0, 1]"},
            {.name = "records", .value = "N", .meaning = "with --batch-size B, the rate is B/N"},
            {.name = "batch-size", .value = "B", .meaning = "of --records"},
            {.name = "epochs",
             .value = "E",
             .meaning = "in place of --steps, which is E/rate, rounded up"},
            {.name = "fixed-size-bound",
             .value = "NAME",
             .meaning = "tightest or forward_difference",
             .standard = "tightest",
             .offers = {.words = {{"tightest"}, {"forward_difference"}}}}}},
          {"its noise, one of",
           {{.name = "noise-multiplier",
             .value = "Z",
             .meaning = "noise std (laplace: scale) / clip norm of one record"},
            {.name = "sensitivity-ratio",
             .value = "R",
             .meaning = "the same / sensitivity; under replace_one the sensitivity is twice the "
                        "clip norm"},
            {.name = "eps0",
             .value = "EPSILON",
             .meaning = "epsilon of one release of laplace (before sampling), exponential or any"},
            {.name = "delta0",
             .value = "DELTA",
             .meaning = "delta of one release of any",
             .standard = "0"},
            {.name = "rho", .value = "RHO", .meaning = "rho of one zcdp release"},
            {.name = "calibrate",
             .meaning = "find the least noise (largest eps0, largest rho) that meets --epsilon"}}},
          {"the guarantee",
           {{.name = "epsilon",
             .value = "EPSILON",
             .meaning = "target of --calibrate; with a noise, delta is computed"},
            {.name = "delta",
             .value = "DELTA",
             .meaning = "of (epsilon, delta)-DP, in (0, 1); pure mechanisms need none"},
            {.name = "adjacency",
             .value = "NAME",
             .meaning = "replace_one, add_remove or zero_out",
             .standard = "replace_one",
             .offers = {.words = {{"replace_one"}, {"add_remove"}, {"zero_out"}}}},
            {.name = "accountant",
             .value = "NAME",
             .meaning = "zcdp, rdp, analytic, pure, pld (privacy loss distributions), or best: the "
                        "least of those that apply",
             .standard = "best",
             .offers = {.words = {{"best"}, {"zcdp"}, {"rdp"}, {"analytic"}, {"pure"}, {"pld"}}}},
            {.name = "tolerance",
             .value = "T",
             .meaning = "relative width to which pld narrows its bounds, in [1e-6, 1)",
             .standard = "1e-3"},
            {.name = "conversion",
             .value = "NAME",
             .meaning = "cks, bs or bs_sqrtpi",
             .standard = "cks",
             .offers = {.words = {{"cks"}, {"bs"}, {"bs_sqrtpi"}}}},
            {.name = "orders",
             .value = "NAME",
             .meaning = "Renyi orders: default or int_2_256",
             .standard = "default",
             .offers = {.words = {{"default"}, {"int_2_256"}}}}}},
          {"files",
           {{.name = "sequence",
             .value = "FILE",
             .meaning = "several mechanisms: the options of one a line, --mechanism to "
                        "--fixed-size-bound and its noise, which --calibrate finds where one line "
                        "has none; # begins a comment",
             .offers = {.files = true}},
            {.name = "batch",
             .value = "FILE",
             .meaning = "answer every row of a CSV file in the format of "
                        "tests/data/accounting_vectors.csv",
             .offers = {.files = true}}}},
          {"output", {json_option(), help_option()}}}};
  return description;
}

po::variables_map parse_account_options(const std::vector<std::string>& arguments) {
  return parse_options(account_description(), arguments);
}

AccountRequest::AccountRequest(const po::variables_map& map)
    : mechanism(word(map, "mechanism", kMechanisms)),
      sampling(word(map, "sampling", kSamplings)),
      bound(word(map, "fixed-size-bound", kBounds)),
      adjacency(word(map, "adjacency", kAdjacencies)),
      orders(text(map, "orders", "")),
      options{.accountant = word(map, "accountant", kAccountants),
              .conversion = word(map, "conversion", kConversions)} {
  constexpr std::string_view width = "a number in [1e-6, 1)";
  options.tolerance = number(map, "tolerance", 1, false, width);
  if (options.tolerance < 1e-6) reject(kCommand, "--tolerance", options.tolerance, width);
  if (word(map, "orders", Choices<bool>{{"default", false}, {"int_2_256", true}}))
    options.orders = integer_orders(2, 256);
  read_schedule(map);
  if (sampling != Sampling::none && mechanism != Mechanism::gaussian &&
      mechanism != Mechanism::laplace)
    throw UnsupportedError(fmt::format("{}: sampling is accounted for gaussian and laplace, not {}",
                                       kCommand, name_of(mechanism)));
  read_amount(map);
  if (question == Question::delta) epsilon = not_negative(map, "epsilon");
  if (question == Question::amount) epsilon = positive(map, "epsilon");
  read_delta(map);
}

void AccountRequest::read_schedule(const po::variables_map& map) {
  constexpr std::string_view count = "an integer >= 1";
  const auto whole = [&](const std::string& name) {
    const auto value = parse_whole(kCommand, "--" + name, text(map, name, count), count);
    if (value < 1) reject(kCommand, "--" + name, text(map, name, count), count);
    return value;
  };
  const auto refuse_both = [&](const std::string& a, const std::string& b) {
    if (has(map, a) && has(map, b) && !map[b].defaulted())
      throw InputError(
          fmt::format("{}: --{} and --{} say the same thing, expected one", kCommand, a, b));
  };
  const bool sampled = sampling != Sampling::none;
  for (const char* name : {"rate", "records", "batch-size", "epochs"})
    refuse_unless(sampled, map, name, "--sampling poisson or fixed");
  refuse_both("batch-size", "rate");
  refuse_both("records", "rate");
  refuse_both("epochs", "steps");
  steps = whole("steps");
  if (!sampled) return;
  double batches = 0;  // of an epoch
  if (has(map, "batch-size") || has(map, "records")) {
    const auto records = static_cast<double>(whole("records"));
    const auto batch = static_cast<double>(whole("batch-size"));
    if (batch > records)
      reject(kCommand, "--batch-size", batch, fmt::format("at most --records = {}", records));
    rate = batch / records;
    batches = records / batch;
  } else {
    rate = number(map, "rate", 1, true, "a number in (0, 1], or --batch-size and --records");
    batches = 1 / rate;
  }
  if (!has(map, "epochs")) return;
  const double all = positive(map, "epochs") * batches;
  if (all > 1e15) reject(kCommand, "--epochs", positive(map, "epochs"), "at most 1e15 steps");
  steps = static_cast<std::int64_t>(std::ceil(all * (1 - 1e-12)));
}

// What is pure needs no delta: then epsilon is the sum, and delta that of the releases.
void AccountRequest::read_delta(const po::variables_map& map) {
  const bool pure = mechanism == Mechanism::laplace || mechanism == Mechanism::exponential ||
                    (mechanism == Mechanism::any && delta0 == 0);
  constexpr std::string_view open = "a number in (0, 1)";
  if (question == Question::delta) {
    if (has(map, "delta"))
      throw InputError(
          "account: --epsilon, --delta and a noise are all given, expected two of them: the third "
          "is computed");
    return;
  }
  const bool sums = options.accountant == Accountant::pure ||
                    (options.accountant == Accountant::tightest && pure);
  const bool none = !has(map, "delta") ||
                    parse_number<double>(kCommand, "--delta", text(map, "delta", open), open) == 0;
  if (sums && none)
    options.accountant = Accountant::pure;
  else
    delta = number(map, "delta", 1, false,
                   pure ? "a number in (0, 1); with --accountant pure none is needed" : open);
}

void AccountRequest::read_amount(const po::variables_map& map) {
  const bool has_scale = mechanism == Mechanism::gaussian || mechanism == Mechanism::tree ||
                         mechanism == Mechanism::laplace;
  const bool is_any = mechanism == Mechanism::any;
  const bool has_eps0 =
      mechanism == Mechanism::laplace || mechanism == Mechanism::exponential || is_any;
  refuse_unless(has_scale, map, "noise-multiplier", "--mechanism gaussian, tree or laplace");
  refuse_unless(has_scale, map, "sensitivity-ratio", "--mechanism gaussian, tree or laplace");
  refuse_unless(has_eps0, map, "eps0", "--mechanism laplace, exponential or any");
  if (!map["delta0"].defaulted()) {
    refuse_unless(is_any, map, "delta0", "--mechanism any");
    constexpr std::string_view range = "a number in [0, 1)";
    delta0 = parse_number<double>(kCommand, "--delta0", text(map, "delta0", range), range);
    if (!(delta0 >= 0 && delta0 < 1)) reject(kCommand, "--delta0", delta0, range);
  }
  refuse_unless(mechanism == Mechanism::zcdp, map, "rho", "--mechanism zcdp");
  std::vector<std::string> given;
  for (const char* name : {"noise-multiplier", "sensitivity-ratio", "eps0", "rho"})
    if (has(map, name)) given.emplace_back(name);
  if (given.size() > 1)
    throw InputError(
        fmt::format("account: --{} and --{} say the same thing, expected one", given[0], given[1]));
  if (has(map, "calibrate") || (given.empty() && has(map, "epsilon"))) {
    if (!given.empty())
      throw InputError(
          fmt::format("account: --calibrate finds the noise, so leave out --{}", given[0]));
    question = Question::amount;
    return;
  }
  if (has(map, "epsilon")) question = Question::delta;
  const std::string name = !given.empty() ? given[0]
                           : has_scale    ? "noise-multiplier"
                           : has_eps0     ? "eps0"
                                          : "rho";
  amount = is_any ? not_negative(map, name) : positive(map, name);
  if (name == "sensitivity-ratio") amount *= sensitivity();
  if (name == "eps0" && has_scale) amount = sensitivity() / amount;
}

Composition AccountRequest::events(double an_amount) const {
  using Sample = SampledLaplaceEvent::Sample;
  const double ratio = an_amount / sensitivity();
  const auto counted = [](const Event& event, std::int64_t count) {
    return Composition{.events = {{event, count}}};
  };
  switch (mechanism) {
    case Mechanism::gaussian:
      if (sampling == Sampling::poisson)
        return counted(PoissonGaussianEvent{rate, an_amount}, steps);
      if (sampling == Sampling::fixed)
        return counted(FixedSizeGaussianEvent{rate, ratio, bound}, steps);
      return counted(GaussianEvent{ratio}, steps);
    case Mechanism::tree:
      return counted(GaussianEvent{ratio}, tree_depth(steps));
    case Mechanism::laplace:
      if (sampling == Sampling::poisson)
        return {.laplace = {{{Sample::poisson, rate, an_amount}, steps}}};
      if (sampling == Sampling::fixed)
        return {.laplace = {{{Sample::fixed_size, rate, ratio}, steps}}};
      return counted(LaplaceEvent{1 / ratio}, steps);
    case Mechanism::exponential:
      return counted(ExponentialEvent{an_amount}, steps);
    case Mechanism::zcdp:
      return counted(ZcdpEvent{an_amount}, steps);
    case Mechanism::any:
      return approximate_releases(an_amount, delta0, steps);
  }
  return {};
}

double AccountRequest::amount_at(double z) const {
  if (mechanism == Mechanism::exponential || mechanism == Mechanism::any) return 1 / z;
  if (mechanism == Mechanism::zcdp) return 1 / (z * z);
  return z;
}

std::vector<std::pair<std::string, double>> AccountRequest::quantities(double an_amount) const {
  if (mechanism == Mechanism::exponential) return {{"eps0", an_amount}};
  if (mechanism == Mechanism::any) return {{"eps0", an_amount}, {"delta0", delta0}};
  if (mechanism == Mechanism::zcdp) return {{"rho", an_amount}};
  return {{"noise_multiplier", an_amount}, {"sensitivity_ratio", an_amount / sensitivity()}};
}

std::string_view name_of(Mechanism mechanism) { return name_in(kMechanisms, mechanism); }
std::string_view name_of(Sampling sampling) { return name_in(kSamplings, sampling); }
std::string_view name_of(Conversion conversion) { return name_in(kConversions, conversion); }

}  // namespace dpsosp
