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
namespace po = boost::program_options;

int info_command(const Arguments& arguments) {
  po::options_description options("dpsosp info");
  options.add_options()("help", "this text")("json", "as JSON");
  const auto map = parse_options("info", options, arguments);
  if (map.count("help") != 0) {
    std::cout << options;
    return 0;
  }
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
      p.build.program_version,
      p.build.compiler,
      p.build.flags,
      p.build.instruction_set,
      p.cpu,
      eigen,
      boost);
  return 0;
}

}  // namespace dpsosp
