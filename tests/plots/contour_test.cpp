// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/contour.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "scratch_folder.hpp"

namespace dpsosp::plots::contour_test {
namespace {

ContourMap bowl() {
  ContourMap map{.id = "bowl",
                 .title = "A bowl",
                 .x_label = "x",
                 .y_label = "y",
                 .x = Vector::LinSpaced(21, -1, 1),
                 .y = Vector::LinSpaced(11, -1, 1),
                 .values = Matrix(11, 21),
                 .points = {{"minimiser", 0, 0, 0}}};
  for (Index i = 0; i < 11; ++i)
    for (Index j = 0; j < 21; ++j) map.values(i, j) = map.x[j] * map.x[j] + map.y[i] * map.y[i];
  return map;
}

TEST(ContourMap, DrawsTitleLinesAndPoints) {
  const ScratchFolder folder;
  const std::string svg = read_file(write_contour_map(bowl(), folder.path()));
  EXPECT_NE(svg.find("A bowl"), std::string::npos);
  EXPECT_NE(svg.find("minimiser"), std::string::npos);
  std::size_t paths = 0;
  for (auto at = svg.find("<path"); at != std::string::npos; at = svg.find("<path", at + 1))
    ++paths;
  EXPECT_GT(paths, 26U);  // at least one per level
}

TEST(ContourMap, DrawsConstantValues) {
  const ScratchFolder folder;
  ContourMap flat = bowl();
  flat.values.setConstant(2);
  EXPECT_NO_THROW(write_contour_map(flat, folder.path()));
}

TEST(ContourMap, RejectsMismatchedSizesAndNonFiniteValues) {
  const ScratchFolder folder;
  ContourMap map = bowl();
  map.values(3, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(write_contour_map(map, folder.path()), InputError);
  map = bowl();
  map.x.conservativeResize(20);
  EXPECT_THROW(write_contour_map(map, folder.path()), InputError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace dpsosp::plots::contour_test
