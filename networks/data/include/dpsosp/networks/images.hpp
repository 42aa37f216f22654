// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp::networks {

/// Images of 8 bits, all of one size, each of one class.
struct ImageSet {
  Index count = 0;
  Index channels = 3, height = 32, width = 32;
  std::vector<std::uint8_t> pixels;  ///< count x channels x height x width, the last fastest
  std::vector<int> labels;           ///< `count` of them, each in [0, classes)
  int classes = 0;
};

struct ImageSplit {
  ImageSet train, test;
};

/// How much of CIFAR is read. A file beyond the images asked for has to be there and is not opened.
struct CifarExtent {
  Index train = std::numeric_limits<Index>::max();  ///< the first so many images, at most all
  Index test = std::numeric_limits<Index>::max();
  /// Images in a batch: a file of CIFAR-10, the test file of CIFAR-100, a fifth of its training
  /// file. 10000 but for a test with small files.
  Index batch = 10'000;
};

/// CIFAR-10: 50000 training images in five batches and 10000 test images of 10 classes: airplane,
/// automobile, bird, cat, deer, dog, frog, horse, ship, truck.
///
/// \param folder  holds one of two layouts, and the first is taken where both are whole:
///
///   - cifar10/, as `./run data cifar10` leaves it: data_batch_1.png to data_batch_5.png and
///     test_batch.png, 8-bit RGB of 1024 x 10000 pixels, where row r is image r and column c its
///     pixel (c / 32, c mod 32); train_lables.json and test_lables.json, arrays of 50000 and 10000
///     labels;
///   - cifar-10-batches-bin/, the official one: data_batch_1.bin to data_batch_5.bin and
///     test_batch.bin, records of a label and 3072 bytes of red, green and blue planes.
///
/// \throws InputError "FILE is missing; ..." with the command that fetches it, and "FILE: ..." on
///   another size, format or label
/// \source Krizhevsky, Learning multiple layers of features from tiny images (2009)
ImageSplit read_cifar10(const std::filesystem::path& folder, const CifarExtent& extent = {});

/// CIFAR-100: 50000 training and 10000 test images, with the fine labels (100 classes).
///
/// \param folder  holds cifar-100-binary/train.bin and test.bin, the official layout: records of a
///   coarse label, a fine label and 3072 bytes of red, green and blue planes.
/// \throws InputError "needs data: FILE is missing; ..." with what to put where, and "FILE: ..."
///   where a file has another size or label
/// \source Krizhevsky, Learning multiple layers of features from tiny images (2009)
ImageSplit read_cifar100(const std::filesystem::path& folder, const CifarExtent& extent = {});

}  // namespace dpsosp::networks
