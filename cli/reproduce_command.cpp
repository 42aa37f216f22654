// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "choices.hpp"
#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/exhibit.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;

po::options_description options_of(const char* title) {
  po::options_description options(title);
  options.add_options()("help", "this text")(
      "scale", po::value<std::string>()->default_value("quick"), "smoke, quick or full")(
      "out", po::value<std::string>()->default_value("out"), "folder of the store and the report")(
      "quiet", "no progress")("exhibit",
                              po::value<std::vector<std::string>>(),
                              "ids; all without it; dpsosp list exhibits");
  return options;
}

ReproduceOptions read(const po::variables_map& map, std::string_view command) {
  ReproduceOptions o;
  if (map.count("exhibit") != 0) o.exhibits = map["exhibit"].as<std::vector<std::string>>();
  o.scale = scale_of(map["scale"].as<std::string>());
  o.out = out_folder(map, command);
  o.quiet = map.count("quiet") != 0;
  return o;
}

/// The place of the report as the last line, once it is there.
int print_place(const std::filesystem::path& report) {
  std::cout << "report: " << report.string() << '\n';
  return 0;
}

}  // namespace

int reproduce_command(const Arguments& arguments) {
  auto options = options_of("dpsosp reproduce [EXHIBIT...]");
  options.add_options()(
      "threads", po::value<std::string>(), "runs at a time; default: all processors")(
      "retry-failed", "compute failed runs again");
  const auto map = parse_options("reproduce", options, arguments, "exhibit");
  if (map.count("help") != 0) {
    std::cout << options;
    return 0;
  }
  ReproduceOptions o = read(map, "reproduce");
  o.retry_failed = map.count("retry-failed") != 0;
  o.threads = threads(map, "reproduce");
  return print_place(reproduce(o));
}

int report_command(const Arguments& arguments) {
  const auto options = options_of("dpsosp report [EXHIBIT...]");
  const auto map = parse_options("report", options, arguments, "exhibit");
  if (map.count("help") != 0) {
    std::cout << options;
    return 0;
  }
  ReproduceOptions o = read(map, "report");
  o.from_store = true;
  return print_place(reproduce(o));
}

}  // namespace dpsosp
