// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/audit.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;
using nlohmann::json;

}  // namespace

int audit_command(const Arguments& arguments) {
  po::options_description options("dpsosp audit --algorithm K | --all");
  options.add_options()("help", "this text")("json", "as JSON")(
      "algorithm", po::value<std::string>(), "K")("all", "all")(
      "plant", po::value<std::string>()->default_value(""), "bug")("stat", "s")("runs", po::value<std::string>()->default_value("200"), "runs");
  const auto map = parse_options("audit", options, arguments, "");
  if (map.count("help") != 0) {
    std::cout << options;
    return 0;
  }
  std::vector<std::string> keys = audited_algorithms();
  if (map.count("all") == 0) keys = {map["algorithm"].as<std::string>()};
  bool passed = true;
  if (map.count("stat") != 0) {
    StatisticalOptions o;
    o.runs = integer(map, "audit", "runs", 8);
    for (const std::string& key : keys) {
      const auto begin = std::chrono::steady_clock::now();
      const StatisticalAudit a = audit_statistics(key, o, map["plant"].as<std::string>());
      fmt::print("{:40} {:40} claimed {:.3g} accounted {:.4g} audited {:.4g} direct {:.3g} {} power {} answers {:.1f} runs {} {:.2f} s\n", key, a.instance, a.claimed, a.accounted, a.audited, a.direct, a.falsified ? "FALSIFIED" : "ok", a.power, a.queries, a.runs, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      std::fflush(stdout);
    }
    return 0;
  }
  for (const std::string& key : keys) {
    const ReplayAudit audit =
        audit_replay(key, map["plant"].as<std::string>());
    passed = passed && audit.passed();
    fmt::print("{}: {} ({} instances, {} pairs, first caught {})\n",
               key,
               audit.passed() ? "passed" : "FAILED",
               audit.instances,
               audit.pairs,
               audit.first_caught);
    for (const CheckLine& line : audit.lines)
      fmt::print("  {}  {} ({})\n", line.passed ? "ok  " : "FAIL", line.property, line.detail);
    for (const auto& [name, count] : audit.queries) fmt::print("      {} {}\n", count, name);
    std::fflush(stdout);
  }
  return passed ? 0 : 1;
}

}  // namespace dpsosp
