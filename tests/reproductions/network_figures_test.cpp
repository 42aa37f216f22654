// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "../cli/program.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/report/contents.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "synthetic_training.hpp"

// The figures with networks in a program that has network code: here a function that makes curves
// up.
namespace dpsosp::network_figures_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace avdiukhin_2024_figures;

json make_up(const json& parameters, std::uint64_t seed) {
  return synthetic_result(parameters.get<Training>(), seed);
}

// Before any test calls reproductions(), as a program does at its start.
const bool added = (add_probe_compute(training_probe, make_up), true);

fs::path reproduced(const ScratchFolder& folder, std::vector<std::string> exhibits, Scale scale) {
  const auto write = [](const Reproduced& r) {
    return report::write_report(r, reproductions(), report::WriteOptions{.formats = {"svg"}});
  };
  return reproduce(
             reproductions().catalogue,
             {.exhibits = std::move(exhibits), .scale = scale, .out = folder.path(), .quiet = true},
             write)
      .parent_path();
}

TEST(NetworkFigures, AreComputedByCodeThatTheProgramBrings) {
  EXPECT_TRUE(added);
  const ScratchFolder folder;
  for (const Scale scale : {Scale::smoke, Scale::quick}) {
    const fs::path report = reproduced(folder,
                                       {"avdiukhin-2024/figure-1a", "avdiukhin-2024/figure-1b",
                                        "avdiukhin-2024/figure-3a", "avdiukhin-2024/figure-3b"},
                                       scale);
    for (const char* file :
         {"figure-1a/accuracy-curves.svg", "figure-1a/second-order-curves.svg",
          "figure-1a/clipping.csv", "figure-1a/curves.csv", "figure-1b/dependence.csv",
          "figure-3a/norm-curves.svg", "figure-3b/bounds.csv"})
      EXPECT_TRUE(fs::exists(report / (std::string("avdiukhin-2024-") + file))) << file;
    const std::string page = contents(report / "avdiukhin-2024-figure-1a/index.html");
    EXPECT_EQ(page.find("Computed before"), std::string::npos);
    const auto origins = lines(contents(report / "avdiukhin-2024-figure-1a/provenance.csv"));
    ASSERT_EQ(origins.size(), 2U);
    EXPECT_TRUE(origins[1].starts_with(to_string(scale))) << origins[1];
  }
  if (const char* keep = std::getenv("DPSOSP_KEEP_FIGURES"))
    fs::copy(folder.path(), keep, fs::copy_options::recursive);
}

TEST(NetworkFigures, CodeIsRefusedOnceCatalogueIsMade) {
  reproductions();
  try {
    add_probe_compute(training_probe, make_up);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "add_probe_compute: probe = avdiukhin-2024/training, expected a call before "
                 "reproductions()");
  }
}

}  // namespace
}  // namespace dpsosp::network_figures_test
