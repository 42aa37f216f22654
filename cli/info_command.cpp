// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <fmt/format.h>
#include <Eigen/Core>
#include <boost/version.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "options.hpp"

namespace dpsosp {
const Description& info_description() {
  static const Description description{
      .name = "info",
      .summary = "version, compiler, processor, libraries",
      .usage = {"[--json]"},
      .examples = {{"dpsosp info", "what a report of a bug should hold"},
                   {"dpsosp info --json", "the same for a program"}},
      .groups = {{"output", {json_option(), help_option()}}}};
  return description;
}

int info_command(const Arguments& arguments) {
  const auto map = parse_options(info_description(), arguments);
  const Provenance p = provenance();
  const std::string eigen =
      fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  const std::string boost = BOOST_LIB_VERSION;
  if (map.count("json") != 0) {
    std::cout << nlohmann::json{{"version", p.build.program_version},
                                {"compiler", p.build.compiler},
                                {"flags", p.build.flags},
                                {"instruction_set", p.build.instruction_set},
                                {"binary", p.build.binary},
                                {"cpu", p.cpu},
                                {"eigen", eigen},
                                {"boost", boost}}
                     .dump(2)
              << '\n';
    return 0;
  }
  fmt::print(
      "dpsosp {}\ncompiler {}\nflags {}\ninstruction set {}\nprocessor {}\nEigen {}\nBoost {}\n",
      p.build.program_version, p.build.compiler, p.build.flags, p.build.instruction_set, p.cpu,
      eigen, boost);
  return 0;
}

}  // namespace dpsosp
