// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "dpsosp/networks/images.hpp"

/// Single files of CIFAR. Each throws InputError "FILE: ..." on one that is not what it should be.
namespace dpsosp::networks {

/// Appends the pixels of the first `rows` images of a PNG file that has `images` rows of 1024
/// pixels, 8-bit RGB. The labels are elsewhere.
void append_png(const std::filesystem::path& file, Index images, Index rows, ImageSet& set);

/// Appends the first `rows` of `images` records: a byte for each entry of `classes`, which it must
/// be below, and 3072 bytes. The last of the label bytes is the label.
void append_records(const std::filesystem::path& file, std::span<const int> classes, Index images,
                    Index rows, ImageSet& set);

/// A JSON array of `count` whole numbers in [0, classes).
std::vector<int> read_labels(const std::filesystem::path& file, Index count, int classes);

}  // namespace dpsosp::networks
