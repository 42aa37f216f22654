// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "choices.hpp"
#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/plots/drawing.hpp"
#include "names.hpp"
#include "options.hpp"

namespace dpsosp {

namespace fs = std::filesystem;

const Description& figure_description() {
  static const Description description{
      .name = "figure",
      .summary = "figures of a finished sweep, as SVG, PDF or PNG",
      .usage = {"FILE.toml|NAME [PART] [OPTIONS]"},
      .examples = {{"dpsosp figure examples/my-sweep.toml",
                    "draws every part into out/my-sweep/ again"},
                   {"dpsosp figure examples/my-sweep.toml n --to levels.pdf",
                    "one part, for a paper"}},
      .groups = {{"output",
                  {{.name = "to",
                    .value = "FILE",
                    .meaning = "the file of one part: .svg, .pdf or .png",
                    .offers = {.files = true}},
                   {.name = "out",
                    .value = "FOLDER",
                    .meaning = "folder of the store and the tables",
                    .standard = "out",
                    .offers = {.files = true}},
                   help_option()}}},
      .words = "file",
      .word_offers = {.names = sweep_names, .files = true},
      .notes = {"Drawn by matplotlib from what the sweep left.",
                "For labels or panels of your own: examples/figure.py."}};
  return description;
}

int figure_command(const Arguments& arguments) {
  const auto map = parse_options(figure_description(), arguments);
  const auto words = map.count("file") == 0 ? std::vector<std::string>{}
                                            : map["file"].as<std::vector<std::string>>();
  if (words.empty() || words.size() > 2)
    throw InputError("figure: expected one sweep, a TOML file or a built-in name, and a part");
  const fs::path file(words.front());
  const std::string name =
      fs::exists(file) || file.has_extension() ? file.stem().string() : the_sweep(words.front());
  const fs::path out(map["out"].as<std::string>()), page = out / name / "index.json";
  if (!fs::exists(page))
    throw InputError(fmt::format("figure: there is no {}; `dpsosp sweep {}` writes it first",
                                 page.string(), words.front()));
  std::vector<std::string> draw{page.string()};
  if (words.size() == 2) draw.insert(draw.end(), {"--figure", "figure-" + words[1]});
  if (map.count("to") != 0) draw.insert(draw.end(), {"--to", map["to"].as<std::string>()});
  return plots::draw_instead(draw);
}

}  // namespace dpsosp
