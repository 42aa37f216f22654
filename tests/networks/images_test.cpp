// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/images.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <png.h>

#include "dpsosp/core/data_folder.hpp"
#include "dpsosp/core/stream.hpp"
#include "support.hpp"

namespace dpsosp::networks::images_test {
namespace {

namespace fs = std::filesystem;

constexpr Index image_bytes = 3072;
constexpr Index batch = 4;  // images a file, in place of 10000
constexpr CifarExtent small{.batch = batch};

struct PngKind {
  int color = PNG_COLOR_TYPE_RGB;
  int depth = 8;
  int interlace = PNG_INTERLACE_NONE;
};

/// `height` rows of equal length, taken from `bytes` one after the other.
void write_png(const fs::path& file, std::span<const std::uint8_t> bytes, Index width, Index height,
               const PngKind& kind = {}) {
  fs::create_directories(file.parent_path());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "wb"),
                                                            std::fclose);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, out.get());
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
               kind.depth, kind.color, kind.interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  const std::array<png_color, 2> palette{};
  if (kind.color == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette.data(), 2);
  png_write_info(png, info);
  const std::size_t row = png_get_rowbytes(png, info);
  std::vector<std::uint8_t> padded(bytes.begin(), bytes.end());
  padded.resize(row * static_cast<std::size_t>(height));
  std::vector<png_bytep> rows;
  for (Index r = 0; r < height; ++r)
    rows.push_back(padded.data() + row * static_cast<std::size_t>(r));
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
}

/// Five training batches and a test batch of random images, of which `planar` is the truth.
struct Images {
  std::vector<std::uint8_t> planar, labels;

  Images() {
    Stream stream(StreamKey{.seed = 11, .purpose = Purpose::test});
    for (Index k = 0; k < 6 * batch; ++k) {
      labels.push_back(static_cast<std::uint8_t>(stream.below(10)));
      for (Index i = 0; i < image_bytes; ++i)
        planar.push_back(static_cast<std::uint8_t>(stream.below(256)));
    }
  }
  std::uint8_t at(Index image, Index channel, Index y, Index x) const {
    return planar[static_cast<std::size_t>(((image * 3 + channel) * 32 + y) * 32 + x)];
  }
  static std::string batch_name(Index b) {
    return b < 5 ? fmt::format("data_batch_{}", b + 1) : "test_batch";
  }
  std::string label_list(Index first, Index count) const {
    std::string list;
    for (Index k = first; k < first + count; ++k)
      list += fmt::format("{}{}", list.empty() ? "[" : ",", labels[static_cast<std::size_t>(k)]);
    return list + "]";
  }
  void write_package(const ScratchFolder& folder) const {
    for (Index b = 0; b < 6; ++b) {
      std::vector<std::uint8_t> rows;
      for (Index r = b * batch; r < (b + 1) * batch; ++r)
        for (Index c = 0; c < 1024; ++c)
          for (Index channel = 0; channel < 3; ++channel)
            rows.push_back(at(r, channel, c / 32, c % 32));
      write_png(folder.path() / "cifar10" / (batch_name(b) + ".png"), rows, 1024, batch);
    }
    folder.write("cifar10/train_lables.json", label_list(0, 5 * batch));
    folder.write("cifar10/test_lables.json", label_list(5 * batch, batch));
  }
  /// Records first to first + count, each after the bytes that `head` gives.
  std::string records(Index first, Index count, const auto& head) const {
    std::string bytes;
    for (Index k = first; k < first + count; ++k) {
      bytes += head(labels[static_cast<std::size_t>(k)]);
      const auto image =
          std::span(planar).subspan(static_cast<std::size_t>(k * image_bytes), image_bytes);
      bytes.append(image.begin(), image.end());
    }
    return bytes;
  }
  void write_official(const ScratchFolder& folder) const {
    const auto head = [](std::uint8_t label) { return std::string(1, static_cast<char>(label)); };
    for (Index b = 0; b < 6; ++b)
      folder.write("cifar-10-batches-bin/" + batch_name(b) + ".bin",
                   records(b * batch, batch, head));
  }
  /// Coarse labels are twice the label, fine ones nine times.
  void write_cifar100(const ScratchFolder& folder) const {
    const auto head = [](std::uint8_t label) {
      return std::string{static_cast<char>(2 * label), static_cast<char>(9 * label)};
    };
    folder.write("cifar-100-binary/train.bin", records(0, 5 * batch, head));
    folder.write("cifar-100-binary/test.bin", records(5 * batch, batch, head));
  }
};

const Images& images() {
  static const Images made;
  return made;
}

/// That a set is images first to first + count, with labels `factor` times as large.
void expect_images(const ImageSet& set, Index first, Index count, int factor = 1) {
  ASSERT_EQ(set.count, count);
  EXPECT_EQ(set.channels * set.height * set.width, image_bytes);
  const auto begin = images().planar.begin() + first * image_bytes;
  EXPECT_TRUE(std::ranges::equal(set.pixels, std::span(begin, begin + count * image_bytes)));
  std::vector<int> labels;
  for (Index k = first; k < first + count; ++k)
    labels.push_back(factor * images().labels[static_cast<std::size_t>(k)]);
  EXPECT_EQ(set.labels, labels);
}

TEST(Cifar10, PackageHoldsImagesRowByRow) {
  const ScratchFolder folder;
  images().write_package(folder);
  const ImageSplit split = read_cifar10(folder.path(), small);
  expect_images(split.train, 0, 5 * batch);
  expect_images(split.test, 5 * batch, batch);
  EXPECT_EQ(split.train.classes, 10);
  EXPECT_EQ(split.test.classes, 10);
}

TEST(Cifar10, OfficialFilesHoldImagesRecordByRecord) {
  const ScratchFolder folder;
  images().write_official(folder);
  const ImageSplit split = read_cifar10(folder.path(), small);
  expect_images(split.train, 0, 5 * batch);
  expect_images(split.test, 5 * batch, batch);
}

TEST(Cifar10, FirstRowsAreThoseOfWholeRead) {
  const ScratchFolder package, official;
  images().write_package(package);
  images().write_official(official);
  for (const ScratchFolder* folder : {&package, &official})
    for (const Index rows : {Index{0}, Index{1}, batch, batch + 1, 5 * batch, 5 * batch + 1}) {
      const ImageSplit split =
          read_cifar10(folder->path(), {.train = rows, .test = rows, .batch = batch});
      expect_images(split.train, 0, std::min(rows, 5 * batch));
      expect_images(split.test, 5 * batch, std::min(rows, batch));
    }
}

TEST(Cifar10, FilesBeyondTheRowsAreNotOpened) {
  const ScratchFolder folder;
  images().write_package(folder);
  for (const char* name : {"data_batch_2", "data_batch_5", "test_batch"})
    folder.write(fmt::format("cifar10/{}.png", name), "no image");
  const CifarExtent first{.train = batch, .test = 0, .batch = batch};
  expect_images(read_cifar10(folder.path(), first).train, 0, batch);
  EXPECT_TRUE(holds(refusal([&] { read_cifar10(folder.path(), small); }), "data_batch_2.png"));
}

TEST(Cifar10, EveryBeginningOfAFileIsRefused) {
  const ScratchFolder folder;
  images().write_package(folder);
  const fs::path file = folder.path() / "cifar10/test_batch.png";
  const std::string whole = read_file(file);
  const CifarExtent test_only{.train = 0, .batch = batch};
  for (std::size_t size = 0;
       size<whole.size(); size += whole.size() - size> 60 ? std::size_t{59} : 1) {
    write_file(file, whole.substr(0, size));
    const std::string line = refusal([&] { read_cifar10(folder.path(), test_only); });
    EXPECT_TRUE(line.starts_with(file.string() + ": cannot be decoded as PNG (")) << size << line;
  }
  write_file(file, whole);
  EXPECT_NO_THROW(read_cifar10(folder.path(), test_only));
}

TEST(Cifar10, AChangedByteOfTheImageIsRefused) {
  const ScratchFolder folder;
  images().write_package(folder);
  const fs::path file = folder.path() / "cifar10/data_batch_1.png";
  std::string bytes = read_file(file);
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  write_file(file, bytes);
  EXPECT_TRUE(holds(refusal([&] { read_cifar10(folder.path(), small); }), "cannot be decoded"));
}

TEST(Cifar10, RefusesImagesOfOtherSizeOrKind) {
  const ScratchFolder folder;
  images().write_package(folder);
  const fs::path file = folder.path() / "cifar10/test_batch.png";
  const auto refused = [&](Index width, Index height, const PngKind& kind = {}) {
    write_png(file, {}, width, height, kind);
    const std::string line = refusal([&] { read_cifar10(folder.path(), small); });
    EXPECT_TRUE(line.starts_with(file.string() + ": ")) << line;
    return line.substr(file.string().size() + 2);
  };
  const std::string size = " pixels, expected 1024 x 4: an image a row";
  EXPECT_EQ(refused(1023, batch), "1023 x 4" + size);
  EXPECT_EQ(refused(1024, batch + 1), "1024 x 5" + size);
  EXPECT_EQ(refused(batch, 1024), "4 x 1024" + size);
  const std::string kind = "expected a PNG file of 8-bit RGB, not interlaced";
  EXPECT_EQ(refused(1024, batch, {.color = PNG_COLOR_TYPE_GRAY}), kind);
  EXPECT_EQ(refused(1024, batch, {.color = PNG_COLOR_TYPE_RGB_ALPHA}), kind);
  EXPECT_EQ(refused(1024, batch, {.color = PNG_COLOR_TYPE_PALETTE}), kind);
  EXPECT_EQ(refused(1024, batch, {.depth = 16}), kind);
  EXPECT_EQ(refused(1024, batch, {.interlace = PNG_INTERLACE_ADAM7}), kind);
}

TEST(Cifar10, RefusesLabelsThatAreNone) {
  const ScratchFolder folder;
  images().write_package(folder);
  const auto refused = [&](const std::string& text) {
    const fs::path file = folder.write("cifar10/test_lables.json", text);
    const std::string line = refusal([&] { read_cifar10(folder.path(), small); });
    EXPECT_TRUE(line.starts_with(file.string() + ": ")) << line;
    return line.substr(file.string().size() + 2);
  };
  EXPECT_EQ(refused("[1,2,3]"), "3 labels, expected a list of 4 labels");
  EXPECT_EQ(refused("[1,2,3,4,5]"), "5 labels, expected a list of 4 labels");
  EXPECT_EQ(refused(R"({"labels": [1,2,3,4]})"), "no list, expected a list of 4 labels");
  const std::string expected = ", expected a whole number from 0 to 9";
  EXPECT_EQ(refused("[1,2,10,4]"), "label 3 = 10" + expected);
  EXPECT_EQ(refused("[-1,2,3,4]"), "label 1 = -1" + expected);
  EXPECT_EQ(refused("[1,2,3,4.5]"), "label 4 = 4.5" + expected);
  EXPECT_EQ(refused("[1,4294967297,3,4]"), "label 2 = 4294967297" + expected);
  EXPECT_EQ(refused(R"([1,"2",3,4])"), "label 2 = a string" + expected);
  EXPECT_EQ(refused("[1,2,3,4"), "no JSON from byte 9 on");
  EXPECT_EQ(refused("[1,2,3,1e999]"), "holds a number that is too large");
  EXPECT_EQ(refused(std::string(100'000, '[')), "JSON nested more than 8 deep");
}

TEST(Cifar10, RefusesRecordsOfOtherLengthOrLabel) {
  const ScratchFolder folder;
  images().write_official(folder);
  const fs::path file = folder.path() / "cifar-10-batches-bin/data_batch_3.bin";
  std::string bytes = read_file(file);
  const auto refused = [&] { return refusal([&] { read_cifar10(folder.path(), small); }); };
  write_file(file, bytes.substr(1));
  EXPECT_EQ(refused(),
            file.string() +
                ": 12291 bytes, expected 12292: 4 records of 1 + 3072 bytes, labels and pixels");
  bytes[2 * 3073] = 10;
  write_file(file, bytes);
  EXPECT_EQ(refused(), file.string() + ", record 3: label = 10, expected 0 to 9");
}

TEST(Cifar10, NamesMissingFileAndCommandThatFetchesIt) {
  const ScratchFolder folder;
  const std::string rest =
      " is missing; fetch CIFAR-10 with ./run data cifar10, or put its official binary files "
      "data_batch_1.bin to data_batch_5.bin and test_batch.bin into " +
      (folder.path() / "cifar-10-batches-bin").string();
  const auto refused = [&] { return refusal([&] { read_cifar10(folder.path(), small); }); };
  EXPECT_EQ(refused(), (folder.path() / "cifar10/data_batch_1.png").string() + rest);
  images().write_package(folder);
  fs::remove(folder.path() / "cifar10/test_lables.json");
  EXPECT_EQ(refused(), (folder.path() / "cifar10/test_lables.json").string() + rest);
  images().write_official(folder);
  EXPECT_NO_THROW(read_cifar10(folder.path(), small)) << "the layout that is whole is taken";
}

TEST(Cifar10, RefusesExtentsBelowZero) {
  const auto refused = [](const CifarExtent& extent) {
    return refusal([&] { read_cifar10("nowhere", extent); });
  };
  EXPECT_EQ(refused({.train = -1}), "CIFAR-10: train = -1, expected >= 0");
  EXPECT_EQ(refused({.test = -1}), "CIFAR-10: test = -1, expected >= 0");
  EXPECT_EQ(refused({.batch = 0}), "CIFAR-10: batch = 0, expected >= 1");
}

TEST(Cifar100, HoldsFineLabelsAfterCoarseOnes) {
  const ScratchFolder folder;
  images().write_cifar100(folder);
  const ImageSplit split = read_cifar100(folder.path(), small);
  expect_images(split.train, 0, 5 * batch, 9);
  expect_images(split.test, 5 * batch, batch, 9);
  EXPECT_EQ(split.train.classes, 100);
  expect_images(read_cifar100(folder.path(), {.train = 7, .batch = batch}).train, 0, 7, 9);
}

TEST(Cifar100, RefusesLabelsAndLengthsThatItCannotHave) {
  const ScratchFolder folder;
  images().write_cifar100(folder);
  const fs::path file = folder.path() / "cifar-100-binary/test.bin";
  const std::string bytes = read_file(file);
  const auto refused = [&](std::size_t place, char value) {
    std::string changed = bytes;
    changed[place] = value;
    write_file(file, changed);
    return refusal([&] { read_cifar100(folder.path(), small); });
  };
  EXPECT_EQ(refused(0, 20), file.string() + ", record 1: coarse label = 20, expected 0 to 19");
  EXPECT_EQ(refused(3 * 3074 + 1, 100),
            file.string() + ", record 4: label = 100, expected 0 to 99");
  write_file(file, bytes + "x");
  EXPECT_TRUE(holds(refusal([&] { read_cifar100(folder.path(), small); }),
                    "12297 bytes, expected 12296: 4 records of 2 + 3072 bytes, labels and pixels"));
}

TEST(Cifar100, SaysWhatTheUserHasToSupply) {
  const ScratchFolder folder;
  const fs::path home = folder.path() / "cifar-100-binary";
  EXPECT_EQ(
      refusal([&] { read_cifar100(folder.path()); }),
      "needs data: " + (home / "train.bin").string() +
          " is missing; put train.bin and test.bin of the official binary version of CIFAR-100 "
          "into " +
          home.string());
}

std::string md5(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(), nullptr);
  std::string text;
  for (unsigned k = 0; k < size; ++k) text += fmt::format("{:02x}", digest[k]);
  return text;
}

/// What the official file of these images is.
std::string official_md5(const ImageSet& set, Index first, Index count) {
  std::string bytes;
  for (Index k = first; k < first + count; ++k) {
    bytes += static_cast<char>(set.labels[static_cast<std::size_t>(k)]);
    const auto image =
        std::span(set.pixels).subspan(static_cast<std::size_t>(k * image_bytes), image_bytes);
    bytes.append(image.begin(), image.end());
  }
  return md5(bytes);
}

using Rgb = std::array<int, 3>;

Rgb pixel(const ImageSet& set, Index y, Index x) {
  const auto at = [&](Index channel) {
    return static_cast<int>(set.pixels[static_cast<std::size_t>((channel * 32 + y) * 32 + x)]);
  };
  return {at(0), at(1), at(2)};
}

Index first_sum(const ImageSet& set) {
  return std::accumulate(set.pixels.begin(), set.pixels.begin() + image_bytes, Index{0});
}

TEST(RealCifar10, IsThatOfTheOfficialFilesByteForByte) {
  if (!fs::exists(data_folder() / "cifar10/test_lables.json"))
    GTEST_SKIP() << "needs ./run data cifar10";
  const auto [train, test] = read_cifar10(data_folder());
  ASSERT_EQ(train.count, 50'000);
  ASSERT_EQ(test.count, 10'000);
  const std::array digests{"5dd7e06a14cb22eb9f671a540d1b7c25", "5ea93a67294ea407fff1d09f752e9692",
                           "942cd6a4bcdd0dd3c604fbe906cb4421", "ae636b3ba5c66a11e91e8cb52e771fcb",
                           "53f37980c15c3d472c316c40844f3f0d"};
  for (Index b = 0; b < 5; ++b)
    EXPECT_EQ(official_md5(train, b * 10'000, 10'000), digests[static_cast<std::size_t>(b)])
        << b + 1;
  EXPECT_EQ(official_md5(test, 0, 10'000), "803d5f7f4d78ea53de84dbe85f74fb6d");

  const auto first_labels = [](const ImageSet& set) {
    return std::vector<int>(set.labels.begin(), set.labels.begin() + 10);
  };
  EXPECT_EQ(first_labels(train), (std::vector<int>{6, 9, 9, 4, 1, 1, 2, 7, 8, 3}));
  EXPECT_EQ(first_labels(test), (std::vector<int>{3, 8, 8, 0, 6, 6, 1, 6, 3, 1}));
  for (int label = 0; label < 10; ++label) {
    EXPECT_EQ(std::ranges::count(train.labels, label), 5000);
    EXPECT_EQ(std::ranges::count(test.labels, label), 1000);
  }
  EXPECT_EQ(pixel(train, 0, 0), (Rgb{59, 62, 63}));
  EXPECT_EQ(pixel(train, 0, 1), (Rgb{43, 46, 45}));
  EXPECT_EQ(pixel(train, 0, 2), (Rgb{50, 48, 43}));
  EXPECT_EQ(pixel(train, 0, 3), (Rgb{68, 54, 42}));
  EXPECT_EQ(pixel(train, 1, 0), (Rgb{16, 20, 20}));
  EXPECT_EQ(pixel(train, 31, 31), (Rgb{123, 92, 72}));
  EXPECT_EQ(first_sum(train), 317'790);
  EXPECT_EQ(pixel(test, 0, 0), (Rgb{158, 112, 49}));
  EXPECT_EQ(pixel(test, 0, 1), (Rgb{159, 111, 47}));
  EXPECT_EQ(pixel(test, 0, 2), (Rgb{165, 116, 51}));
  EXPECT_EQ(pixel(test, 31, 31), (Rgb{21, 67, 110}));
  EXPECT_EQ(first_sum(test), 332'962);
}

}  // namespace
}  // namespace dpsosp::networks::images_test
