// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/study.hpp"
#include "parts.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

std::vector<json> probes(const Study& study,
                         std::string_view name,
                         const json& parameters,
                         std::uint64_t seeds) {
  std::vector<json> jobs;
  for (std::uint64_t s = 0; s < seeds; ++s) jobs.push_back(study.probe(name, parameters, s));
  return jobs;
}

std::vector<double> values(const Runs& runs, const std::vector<json>& jobs, const char* name) {
  std::vector<double> v;
  for (const json& job : jobs) {
    const StoredRun& run = runs.at(job);
    if (run.status != RunStatus::finished) continue;
    const json& value = run.result.at(name);
    v.push_back(value.is_boolean() ? double(value.get<bool>()) : from_json_number(value));
  }
  return v;
}

double share(const Runs& runs, const std::vector<json>& jobs, const char* name) {
  return mean(values(runs, jobs, name));
}

std::vector<json> escape_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const bool adversarial : {false, true})
    for (json& job : probes(
             study,
             "ganesh-2023/escape",
             {{"dimension", 16}, {"gamma", 0.01}, {"curvature", 0.2}, {"adversarial", adversarial}},
             100))
      jobs.push_back(std::move(job));
  return jobs;
}

Finding adversarial_escape(const Runs& runs, const Study& study) {
  const auto jobs = escape_jobs(study);
  const auto half = jobs.begin() + 100;
  const double benign = share(runs, {jobs.begin(), half}, "left");
  const double adversarial = share(runs, {half, jobs.end()}, "left");
  return {.verdict = holds_if(benign >= 0.95 && adversarial >= 0.95),
          .measured =
              fmt::format("{:.0f} of 100 seeds leave under the cancelling error, {:.0f} under a "
                          "frozen Gaussian one",
                          100 * adversarial,
                          100 * benign)};
}

std::vector<json> descent_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const char* problem : {"cosine-saddle", "quartic-saddle", "double-well"})
    jobs.push_back(study.probe("ganesh-2023/descent", {{"problem", problem}, {"pairs", 3400}}, 0));
  return jobs;
}

Finding descent_printed(const Runs& runs, const Study& study) {
  const double first = std::ranges::max(values(runs, descent_jobs(study), "first"));
  const double second = std::ranges::max(values(runs, descent_jobs(study), "second"));
  return {
      .verdict = holds_if(first <= 1e-12 && second <= 1e-12),
      .measured = fmt::format("over 10200 pairs, in units of eta gamma^2: first inequality by at "
                              "least {:.3f}, second by at least {:.3f}",
                              -first,
                              -second)};
}

Finding descent_repaired(const Runs& runs, const Study& study) {
  const double worst = std::ranges::max(values(runs, descent_jobs(study), "repaired"));
  return {.verdict = holds_if(worst <= 1e-12),
          .measured = fmt::format("by at least {:.3f} eta gamma^2 over 10200 pairs", -worst)};
}

json selection_parameters(double m, double epsilon) {
  return {{"records", m},
          {"epsilon", epsilon},
          {"spread", 0.5},
          {"alpha", 0.1},
          {"lipschitz", 1},
          {"smoothness", 2},
          {"candidates", 100},
          {"failure", 0.1}};
}
constexpr std::uint64_t selection_seeds = 2000;

std::vector<json> selection_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const auto& [m, epsilon] : {std::pair{5000.0, 1.0}, {10000.0, 1.0}, {5000.0, 2.0}})
    for (json& job :
         probes(study, "ganesh-2023/selection", selection_parameters(m, epsilon), selection_seeds))
      jobs.push_back(std::move(job));
  return jobs;
}

Finding selection_accuracy(const Runs& runs, const Study& study) {
  const auto session = [&](double m, double epsilon) {
    const auto jobs =
        probes(study, "ganesh-2023/selection", selection_parameters(m, epsilon), selection_seeds);
    return std::pair(values(runs, jobs, "accepted"), values(runs, jobs, "excess"));
  };
  const auto [accepted, excess] = session(5000, 1);
  const double lg = std::log(2.0 * 100 / 0.1), allowed = 32.0 * lg * 2.0 / 5000;
  double failures = 0;
  for (std::size_t k = 0; k < accepted.size(); ++k)
    failures += accepted[k] == 0.0 || excess[k] > allowed;
  const auto n = static_cast<double>(accepted.size());
  // One-sided at level 1e-3 under a failure rate of 0.1.
  const double most = 0.1 * n + 3.09 * std::sqrt(0.09 * n);
  const double base = mean(excess);
  const double by_m = mean(session(10000, 1).second) / base;
  const double by_epsilon = mean(session(5000, 2).second) / base;
  return {.verdict = holds_if(failures <= most && std::abs(by_m / 0.5 - 1) <= 0.05 &&
                              std::abs(by_epsilon / 0.5 - 1) <= 0.05),
          .measured =
              fmt::format("{:.0f} of {:.0f} sessions fail; mean error {:.4f} of {:.4f} allowed; "
                          "times {:.3f} at twice m, {:.3f} at twice epsilon",
                          failures,
                          n,
                          base,
                          allowed,
                          by_m,
                          by_epsilon)};
}

constexpr std::array concentration_records{100, 1000, 10000, 100000, 1000000};
json concentration_parameters(int m) { return {{"dimension", 10}, {"records", m}, {"draws", 200}}; }
std::vector<json> concentration_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const int m : concentration_records)
    for (json& job : probes(study, "ganesh-2023/concentration", concentration_parameters(m), 20))
      jobs.push_back(std::move(job));
  return jobs;
}

Finding concentration(const Runs& runs, const Study& study) {
  std::vector<double> m, gradient, hessian;
  double largest = 0;
  for (const int records : concentration_records) {
    const auto jobs =
        probes(study, "ganesh-2023/concentration", concentration_parameters(records), 20);
    const auto g = values(runs, jobs, "gradient"), h = values(runs, jobs, "hessian");
    m.push_back(records);
    gradient.push_back(mean(g));
    hessian.push_back(mean(h));
    // cosine-saddle at d = 10: G = sqrt(10), M = 1.
    const double root = std::sqrt(std::log(200.0) / records);
    largest = std::max({largest,
                        std::ranges::max(g) / (4.0 * std::sqrt(10.0) * root),
                        std::ranges::max(h) / (4.0 * root)});
  }
  const double sg = log_slope(m, gradient), sh = log_slope(m, hessian);
  return {.verdict =
              holds_if(std::abs(sg + 0.5) <= 0.05 && std::abs(sh + 0.5) <= 0.05 && largest <= 1.0),
          .measured =
              fmt::format("gradient ~ m^{:.4f}, Hessian ~ m^{:.4f}; at most {:.3f} of the bounds",
                          sg,
                          sh,
                          largest)};
}

std::vector<json> sampler_jobs(const Study& study) {
  const double small = 0.2 / std::log(2000.0 / 1e-6);
  std::vector<json> jobs;
  for (const double step : {small, 0.72})
    jobs.push_back(study.probe(
        "ganesh-2023/sampler", {{"scaled_step", step}, {"chains", 20000}, {"rounds", 50}}, 0));
  return jobs;
}

Finding sampler(const Runs& runs, const Study& study) {
  const auto jobs = sampler_jobs(study);
  const auto at = [&](const char* name, std::size_t k) {
    return values(runs, {jobs[k]}, name).at(0);
  };
  const double acceptance = at("acceptance", 0), differences = at("differences", 0);
  const bool good = std::abs(acceptance - 0.5) <= 0.05 &&
                    std::abs(differences / std::exp(1.0) - 1) <= 0.02 &&
                    std::abs(at("mean_errors", 0)) <= 4 && std::abs(at("second_errors", 0)) <= 4 &&
                    std::abs(at("mean_errors", 1)) > 10;
  return {
      .verdict = holds_if(good),
      .measured = fmt::format(
          "small step: acceptance {:.4f}, {:.4f} differences a trial, out of range {:.2g}, moments "
          "off by "
          "{:.1f} and {:.1f} standard errors; h (beta G)^2 = 0.72: out of range {:.3f}, mean off "
          "by {:.0f}",
          acceptance,
          differences,
          at("out_of_range", 0),
          at("mean_errors", 0),
          at("second_errors", 0),
          at("out_of_range", 1),
          at("mean_errors", 1))};
}

std::vector<json> divergence_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const double b : {1.0, 2.0, 4.0})
    jobs.push_back(study.probe(
        "ganesh-2023/divergence", {{"cells", 400}, {"rounds", 50}, {"exponent", b}}, 0));
  return jobs;
}

Finding divergence(const Runs& runs, const Study& study) {
  bool good = true;
  std::vector<std::string> words;
  for (const json& job : divergence_jobs(study)) {
    const double largest = values(runs, {job}, "largest_ratio").at(0);
    const double claimed = values(runs, {job}, "claimed_ratio").at(0);
    good = good && largest <= claimed * (1 + 1e-6);
    words.push_back(
        fmt::format("beta G D = {:g}: a factor of at most {:.4f} a round, claimed {:.6f}",
                    job.at("parameters").at("exponent").get<double>(),
                    largest,
                    claimed));
  }
  return {.verdict = holds_if(good), .measured = fmt::format("{}", fmt::join(words, "; "))};
}

std::vector<json> net_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const auto& [d, n] : {std::pair{1, 1000}, {1, 10000}, {2, 1000}})
    for (json& job :
         probes(study, "ganesh-2023/net", {{"dimension", d}, {"records", n}, {"epsilon", 1}}, 20))
      jobs.push_back(std::move(job));
  return jobs;
}

Finding net(const Runs& runs, const Study& study) {
  const auto excess = values(runs, net_jobs(study), "excess"),
             bound = values(runs, net_jobs(study), "bound");
  double largest = 0;
  for (std::size_t k = 0; k < excess.size(); ++k) largest = std::max(largest, excess[k] / bound[k]);
  return {.verdict = holds_if(largest <= 1.0 && !excess.empty()),
          .measured =
              fmt::format("at most {:.3f} of the bound over {} data sets", largest, excess.size()),
          .value = largest};
}

json coin_parameters(int n, int k) {
  return {{"records", n}, {"coins", k}, {"draws", 2000}, {"bias", 0.25}};
}
std::vector<json> coin_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const int n : {1000, 10000, 100000, 1000000})
    for (const int k : {16, 64, 256})
      jobs.push_back(study.probe("ganesh-2023/coins", coin_parameters(n, k), 0));
  return jobs;
}

Finding coins(const Runs& runs, const Study& study) {
  double least = 1e300, largest = 0;
  for (const json& job : coin_jobs(study)) {
    const json& p = job.at("parameters");
    const double unit =
        std::sqrt(std::log(p.at("coins").get<double>()) / p.at("records").get<double>());
    const double scaled = values(runs, {job}, "excess").at(0) / unit;
    least = std::min(least, scaled);
    largest = std::max(largest, scaled);
  }
  return {.verdict = holds_if(least >= 0.1 && largest <= 1.5 * least),
          .measured = fmt::format("excess over A sqrt(ln k/n): {:.4f} to {:.4f}", least, largest)};
}

}  // namespace

std::vector<Predicate> ganesh_2023_lemma_predicates() {
  return {
      judged_by("ganesh-2023/2", escape_jobs, adversarial_escape),
      judged_by("ganesh-2023/3", descent_jobs, descent_printed),
      judged_by("ganesh-2023/3-repaired", descent_jobs, descent_repaired),
      judged_by("ganesh-2023/6", selection_jobs, selection_accuracy),
      judged_by("ganesh-2023/8", concentration_jobs, concentration),
      judged_by("ganesh-2023/14", sampler_jobs, sampler),
      judged_by("ganesh-2023/15", divergence_jobs, divergence),
      judged_by("ganesh-2023/16-net", net_jobs, net),
      judged_by("ganesh-2023/17", coin_jobs, coins),
  };
}

}  // namespace dpsosp
