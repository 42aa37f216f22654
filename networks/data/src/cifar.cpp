// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "cifar_files.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::networks {
namespace {

namespace fs = std::filesystem;

constexpr Index train_batches = 5;

// Training files, then the test file, then what else belongs to the layout.
constexpr std::array<std::string_view, 8> package_files{
    "cifar10/data_batch_1.png",  "cifar10/data_batch_2.png", "cifar10/data_batch_3.png",
    "cifar10/data_batch_4.png",  "cifar10/data_batch_5.png", "cifar10/test_batch.png",
    "cifar10/train_lables.json", "cifar10/test_lables.json"};
constexpr std::array<std::string_view, 6> official_files{
    "cifar-10-batches-bin/data_batch_1.bin", "cifar-10-batches-bin/data_batch_2.bin",
    "cifar-10-batches-bin/data_batch_3.bin", "cifar-10-batches-bin/data_batch_4.bin",
    "cifar-10-batches-bin/data_batch_5.bin", "cifar-10-batches-bin/test_batch.bin"};
constexpr std::array<std::string_view, 2> cifar100_files{"cifar-100-binary/train.bin",
                                                         "cifar-100-binary/test.bin"};

/// The first of the files that is not there; empty if all are.
fs::path first_missing(const fs::path& folder, std::span<const std::string_view> files) {
  for (const std::string_view file : files) {
    std::error_code ignored;
    if (!fs::is_regular_file(folder / file, ignored)) return folder / file;
  }
  return {};
}

/// The extent, with at most as many images as there are.
CifarExtent checked(std::string_view where, CifarExtent extent) {
  constexpr Index most = 10'000'000;
  const auto check = [&](std::string_view name, Index value, Index least) {
    if (value < least) reject(where, name, static_cast<double>(value), fmt::format(">= {}", least));
  };
  check("train", extent.train, 0);
  check("test", extent.test, 0);
  check("batch", extent.batch, 1);
  extent.batch = std::min(extent.batch, most);
  extent.train = std::min(extent.train, train_batches * extent.batch);
  extent.test = std::min(extent.test, extent.batch);
  return extent;
}

}  // namespace

ImageSplit read_cifar10(const fs::path& folder, const CifarExtent& wanted) {
  constexpr int classes = 10;
  const CifarExtent extent = checked("CIFAR-10", wanted);
  const fs::path absent = first_missing(folder, package_files);
  const bool packaged = absent.empty();
  if (!packaged && !first_missing(folder, official_files).empty())
    throw InputError(
        fmt::format("{} is missing; fetch CIFAR-10 with ./run data cifar10, or put its official "
                    "binary files data_batch_1.bin to data_batch_5.bin and test_batch.bin into {}",
                    absent.string(), (folder / official_files[0]).parent_path().string()));
  const std::span<const std::string_view> files =
      packaged ? std::span<const std::string_view>(package_files) : official_files;
  const auto read = [&](std::span<const std::string_view> batches, Index count,
                        std::string_view label_file) {
    ImageSet set{.classes = classes};
    for (std::size_t b = 0; b < batches.size() && set.count < count; ++b) {
      const Index rows = std::min(extent.batch, count - set.count);
      if (packaged)
        append_png(folder / batches[b], extent.batch, rows, set);
      else
        append_records(folder / batches[b], std::array{classes}, extent.batch, rows, set);
    }
    if (packaged) {
      set.labels = read_labels(folder / label_file, std::ssize(batches) * extent.batch, classes);
      set.labels.resize(static_cast<std::size_t>(count));
    }
    return set;
  };
  return {.train = read(files.first(train_batches), extent.train, package_files[6]),
          .test = read(files.subspan(train_batches, 1), extent.test, package_files[7])};
}

ImageSplit read_cifar100(const fs::path& folder, const CifarExtent& wanted) {
  constexpr std::array classes{20, 100};
  const CifarExtent extent = checked("CIFAR-100", wanted);
  if (const fs::path absent = first_missing(folder, cifar100_files); !absent.empty())
    throw InputError(
        fmt::format("needs data: {} is missing; put train.bin and test.bin of the official binary "
                    "version of CIFAR-100 into {}",
                    absent.string(), absent.parent_path().string()));
  ImageSplit split{.train = {.classes = classes.back()}, .test = {.classes = classes.back()}};
  append_records(folder / cifar100_files[0], classes, train_batches * extent.batch, extent.train,
                 split.train);
  append_records(folder / cifar100_files[1], classes, extent.batch, extent.test, split.test);
  return split;
}

}  // namespace dpsosp::networks
