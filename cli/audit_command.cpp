// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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
      "plant", po::value<std::string>()->default_value(""), "bug");
  const auto map = parse_options("audit", options, arguments, "");
  if (map.count("help") != 0) {
    std::cout << options;
    return 0;
  }
  std::vector<std::string> keys = audited_algorithms();
  if (map.count("all") == 0) keys = {map["algorithm"].as<std::string>()};
  bool passed = true;
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
    std::fflush(stdout);
  }
  return passed ? 0 : 1;
}

}  // namespace dpsosp
