// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <nlohmann/json.hpp>

#include "support.hpp"

namespace dpsosp::networks::safetensors_test {
namespace {

namespace fs = std::filesystem;

std::string length(std::uint64_t number) {
  std::string bytes;
  for (int k = 0; k < 8; ++k) bytes += static_cast<char>(number >> (8 * k) & 0xffU);
  return bytes;
}

std::string file_of(const std::string& header, const std::string& numbers) {
  return length(header.size()) + header + numbers;
}

std::string entry(const std::string& name, const std::string& type, const std::string& shape,
                  const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, type, shape,
                     offsets);
}

/// Equal in every bit, but for the payload of a NaN.
void expect_same(float value, float expected) {
  EXPECT_TRUE(std::isnan(expected)
                  ? std::isnan(value)
                  : std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(expected))
      << value << " for " << expected;
}

TEST(Safetensors, ReadsFileWrittenByHand) {
  const ScratchFolder folder;
  const std::string header = "{" + entry("b", "F32", "[2,1]", "[4,12]") + "," +
                             entry("a", "F32", "[]", "[0,4]") +
                             R"(,"__metadata__":{"format":"pt"}}   )";
  // 1, -2 and 0.5, the least byte first
  const std::string numbers("\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f", 12);
  const SafetensorsFile file(folder.write("a", file_of(header, numbers)));
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_EQ(file.tensors()[0].name, "a") << "in the order of the bytes";
  EXPECT_EQ(file.tensor("b").type, "F32");
  EXPECT_EQ(file.tensor("b").shape, (std::vector<Index>{2, 1}));
  EXPECT_EQ(file.read("a"), std::vector<float>{1});
  EXPECT_EQ(file.read("b"), (std::vector<float>{-2, 0.5}));
  EXPECT_TRUE(holds(refusal([&] { file.read("c"); }), "unknown tensor of "));
}

TEST(Safetensors, ReadsEveryHalfAsItsFormula) {
  const ScratchFolder folder;
  std::string numbers;
  for (std::uint32_t bits = 0; bits < 65536; ++bits)
    numbers += {static_cast<char>(bits & 0xffU), static_cast<char>(bits >> 8)};
  const fs::path file =
      folder.write("a", file_of("{" + entry("x", "F16", "[65536]", "[0,131072]") + "}", numbers));
  const std::vector<float> values = SafetensorsFile(file).read("x");
  for (int bits = 0; bits < 65536; ++bits) {
    const int exponent = bits / 1024 % 32, fraction = bits % 1024;
    double value = exponent == 0   ? std::ldexp(fraction, -24)
                   : exponent < 31 ? std::ldexp(1024 + fraction, exponent - 25)
                   : fraction == 0 ? std::numeric_limits<double>::infinity()
                                   : std::numeric_limits<double>::quiet_NaN();
    if (bits >= 32768) value = -value;
    expect_same(values[static_cast<std::size_t>(bits)], static_cast<float>(value));
  }
}

TEST(Safetensors, ReadsBrainFloatsAndDoubles) {
  const ScratchFolder folder;
  std::string numbers("\x80\x3f\x49\xc0", 4);  // 1 and -3.140625
  for (const double value : {0.1, -1e300, 5e-324})
    numbers.append(std::bit_cast<std::array<char, 8>>(value).data(), 8);
  const SafetensorsFile file(
      folder.write("a", file_of("{" + entry("b", "BF16", "[2]", "[0,4]") + "," +
                                    entry("d", "F64", "[3]", "[4,28]") + "}",
                                numbers)));
  EXPECT_EQ(file.read("b"), (std::vector<float>{1, -3.140625}));
  EXPECT_EQ(file.read("d"), (std::vector<float>{0.1F, -std::numeric_limits<float>::infinity(), 0}));
}

TEST(Safetensors, ListsOtherTypesAndDoesNotReadThem) {
  const ScratchFolder folder;
  const SafetensorsFile file(folder.write(
      "a", file_of("{" + entry("steps", "I64", "[1]", "[0,8]") + "}", std::string(8, '\0'))));
  EXPECT_EQ(file.tensor("steps").type, "I64");
  EXPECT_TRUE(holds(refusal([&] { file.read("steps"); }),
                    ": tensor 'steps': dtype = I64, expected F16, BF16, F32 or F64"));
}

RC_GTEST_PROP(Safetensors, ReadWhatWasWritten, ()) {
  const ScratchFolder folder;
  const auto shapes = *rc::gen::container<std::vector<std::vector<Index>>>(
      rc::gen::container<std::vector<Index>>(rc::gen::inRange<Index>(0, 4)));
  const auto names = *rc::gen::unique<std::vector<std::string>>(
      shapes.size(),
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab.\"\\/ \n"))));
  std::vector<std::vector<float>> values;
  std::vector<NamedTensor> tensors;
  for (const std::vector<Index>& shape : shapes) {
    const Index count = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
    RC_PRE(count <= 4096);
    values.push_back(*rc::gen::container<std::vector<float>>(static_cast<std::size_t>(count),
                                                             rc::gen::arbitrary<float>()));
  }
  for (std::size_t k = 0; k < shapes.size(); ++k)
    tensors.push_back({.name = names[k], .shape = shapes[k], .values = values[k]});
  write_safetensors(folder.path() / "a", tensors);
  const SafetensorsFile file(folder.path() / "a");
  RC_ASSERT(file.tensors().size() == shapes.size());
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    RC_ASSERT(file.tensor(names[k]).shape == shapes[k]);
    RC_ASSERT(file.read(names[k]) == values[k]);
  }
}

TEST(Safetensors, KeepEveryBitOfSpecialNumbers) {
  const ScratchFolder folder;
  const std::vector<float> special{-0.0F, std::numeric_limits<float>::denorm_min(),
                                   std::numeric_limits<float>::infinity(),
                                   std::bit_cast<float>(0x7fc12345U)};
  write_safetensors(folder.path() / "a",
                    std::vector<NamedTensor>{{.name = "x", .shape = {4}, .values = special}});
  const std::vector<float> read = SafetensorsFile(folder.path() / "a").read("x");
  EXPECT_EQ(std::memcmp(read.data(), special.data(), 16), 0);
}

TEST(Safetensors, WriterMakesFilesOfTheFormat) {
  const ScratchFolder folder;
  const std::vector<float> one{1}, none;
  write_safetensors(folder.path() / "a",
                    std::vector<NamedTensor>{{.name = "z", .shape = {}, .values = one},
                                             {.name = "a", .shape = {0, 3}, .values = none}});
  const std::string bytes = read_file(folder.path() / "a");
  const auto header = static_cast<std::uint8_t>(bytes[0]);
  EXPECT_EQ(bytes.substr(0, 8), length(header));
  EXPECT_EQ(header % 8, 0);
  EXPECT_EQ(nlohmann::json::parse(bytes.substr(8, header)),
            nlohmann::json::parse(R"({"z": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
                                      "a": {"dtype": "F32", "shape": [0, 3], "data_offsets": [4, 4]}})"));
  EXPECT_EQ(bytes.substr(8U + header), std::string("\0\0\x80\x3f", 4));
}

TEST(Safetensors, WriterRefusesWhatItCouldNotReadBack) {
  const ScratchFolder folder;
  const fs::path file = folder.path() / "a";
  const std::vector<float> two{1, 2};
  const auto refused = [&](const std::vector<NamedTensor>& tensors) {
    const std::string line = refusal([&] { write_safetensors(file, tensors); });
    EXPECT_FALSE(fs::exists(file));
    return line.substr(std::min(line.size(), file.string().size()));
  };
  EXPECT_EQ(refused({{.name = "x", .shape = {3}, .values = two}}),
            ": tensor 'x': 2 values, expected the product of its shape");
  EXPECT_EQ(refused({{.name = "x", .shape = {-1, -2}, .values = two}}),
            ": tensor 'x': shape = -1, expected >= 0");
  const std::string name = "expected a name of its own, in UTF-8";
  EXPECT_TRUE(holds(refused({{.name = "x", .shape = {2}, .values = two},
                             {.name = "x", .shape = {2}, .values = two}}),
                    name));
  EXPECT_TRUE(holds(refused({{.name = "__metadata__", .shape = {2}, .values = two}}), name));
  EXPECT_TRUE(holds(refused({{.name = "\xff", .shape = {2}, .values = two}}), name));
  // 2^33 times 2^33 is 2^66, and 4 modulo 2^64
  EXPECT_TRUE(
      holds(refused({{.name = "x", .shape = {Index{1} << 33, Index{1} << 33}, .values = two}}),
            "2 values"));
}

/// The line with which a file is refused, after its name.
std::string refused(const std::string& content) {
  const ScratchFolder folder;
  const fs::path file = folder.write("a", content);
  const std::string line = refusal([&] { SafetensorsFile opened(file); });
  EXPECT_TRUE(line.starts_with(file.string() + ": ")) << line;
  return line.substr(std::min(line.size(), file.string().size() + 2));
}

std::string refused_header(const std::string& header,
                           const std::string& numbers = std::string(8, '\0')) {
  return refused(file_of(header, numbers));
}

TEST(Safetensors, EveryBeginningOfAFileIsRefused) {
  const std::string whole = file_of("{" + entry("x", "F32", "[2]", "[0,8]") + "}", "12345678");
  for (std::size_t size = 0; size < whole.size(); ++size) refused(whole.substr(0, size));
  EXPECT_EQ(refused(whole + "9"), "9 bytes of numbers, expected 8 as its header says");
}

TEST(Safetensors, RefusesHeadersLongerThanFileOrLimit) {
  const std::string no = "is no safetensors file: ";
  EXPECT_EQ(refused("1234567"), no + "it ends within the length of its header");
  EXPECT_EQ(refused(length(3) + "{}"),
            no + "its header has 3 bytes, expected at most 100 MB in a file of 10");
  EXPECT_EQ(
      refused(length(~std::uint64_t{0}) + "{}"),
      no + "its header has 18446744073709551615 bytes, expected at most 100 MB in a file of 10");
  const ScratchFolder folder;
  const fs::path file = folder.write("a", length(100'000'001));
  fs::resize_file(file, 200'000'000);
  EXPECT_TRUE(holds(refusal([&] { SafetensorsFile opened(file); }), "expected at most 100 MB"));
}

TEST(Safetensors, RefusesHeadersThatAreNoSuchJson) {
  EXPECT_TRUE(holds(refused_header(" {}"), "does not begin with '{'"));
  EXPECT_TRUE(holds(refused_header("{]"), "no JSON from byte 2 on"));
  EXPECT_TRUE(holds(refused_header("{} x"), "no JSON from byte 4 on"));
  EXPECT_TRUE(holds(refused_header("{\"\xff\":1}"), "no JSON"));
  const std::string x = entry("x", "F32", "[2]", "[0,8]");
  EXPECT_EQ(refused_header("{" + x + "," + x + "}"), "'x' is named twice");
  EXPECT_EQ(
      refused_header(R"({"x":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})"),
      "'dtype' is named twice");
  EXPECT_TRUE(holds(refused_header("{\"x\":" + std::string(1000, '[')), "nested more than 8 deep"));
  EXPECT_EQ(refused_header("{" + x + R"(,"__metadata__":{"a":1}})"),
            "__metadata__ is no object of texts");
  EXPECT_EQ(refused_header("{" + x + R"(,"__metadata__":"pt"})"),
            "__metadata__ is no object of texts");
}

TEST(Safetensors, RefusesTensorsThatContradictThemselves) {
  const auto tensor = [](const std::string& type, const std::string& shape,
                         const std::string& offsets) {
    const std::string line = refused_header("{" + entry("x", type, shape, offsets) + "}");
    EXPECT_TRUE(line.starts_with("tensor 'x': ")) << line;
    return line.substr(12);
  };
  const std::string parts = "tensor 'x': expected dtype, shape and data_offsets";
  EXPECT_EQ(refused_header(R"({"x":[1]})"), parts);
  EXPECT_EQ(refused_header(R"({"x":{"dtype":"F32","shape":[2]}})"), parts);
  EXPECT_EQ(refused_header(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}})"),
            parts);
  EXPECT_EQ(refused_header(R"({"x":{"dtype":32,"shape":[2],"data_offsets":[0,8]}})"),
            "tensor 'x': dtype is no text");
  EXPECT_EQ(tensor("F33", "[2]", "[0,8]"), "unknown dtype 'F33'");
  EXPECT_EQ(tensor("F32", "[3]", "[0,8]"), "8 bytes, expected 12 as dtype and shape say");
  EXPECT_EQ(tensor("F16", "[2]", "[0,8]"), "8 bytes, expected 4 as dtype and shape say");
  const std::string whole = "shape is no list of whole numbers";
  EXPECT_EQ(tensor("F32", "2", "[0,8]"), whole);
  EXPECT_EQ(tensor("F32", "[-2]", "[0,8]"), whole);
  EXPECT_EQ(tensor("F32", "[2.0]", "[0,8]"), whole);
  EXPECT_EQ(tensor("F32", "[99999999999999999999]", "[0,8]"), whole);
  // 4 (2^62 + 2) is 8 modulo 2^64
  EXPECT_EQ(tensor("F32", "[4611686018427387906]", "[0,8]"), "shape is beyond 2^63");
  EXPECT_EQ(tensor("F32", "[4294967296,4294967296,2]", "[0,8]"), "shape is beyond 2^63");
  EXPECT_EQ(tensor("U8", "[9223372036854775808]", "[0,9223372036854775808]"),
            "shape is beyond 2^63");
  EXPECT_EQ(tensor("F32", "[0,18446744073709551615]", "[0,0]"), "shape is beyond 2^63");
  const std::string offsets = "data_offsets are not two whole numbers, the lesser first";
  for (const char* bad : {"[8,0]", "[0]", "[0,8,8]", "[-8,0]", "[0.0,8]", "8", "{}"})
    EXPECT_EQ(tensor("F32", "[2]", bad), offsets) << bad;
}

TEST(Safetensors, RefusesBytesThatOverlapOrLeaveGaps) {
  const auto two = [](const std::string& first, const std::string& second, std::size_t bytes) {
    return refused_header(
        "{" + entry("a", "U8", "[4]", first) + "," + entry("b", "U8", "[4]", second) + "}",
        std::string(bytes, '\0'));
  };
  const std::string where = ", where the one before ends";
  EXPECT_EQ(two("[0,4]", "[3,7]", 7), "tensor 'b' begins at 3, expected 4" + where);
  EXPECT_EQ(two("[0,4]", "[0,4]", 4), "tensor 'b' begins at 0, expected 4" + where);
  EXPECT_EQ(two("[5,9]", "[0,4]", 9), "tensor 'a' begins at 5, expected 4" + where);
  EXPECT_EQ(two("[1,5]", "[5,9]", 9), "tensor 'a' begins at 1, expected 0" + where);
  EXPECT_EQ(two("[0,4]", "[4,8]", 7), "7 bytes of numbers, expected 8 as its header says");
  EXPECT_EQ(two("[0,4]", "[4,8]", 9), "9 bytes of numbers, expected 8 as its header says");
  EXPECT_EQ(two("[0,4]", "[18446744073709551611,18446744073709551615]", 8),
            "tensor 'b' begins at 18446744073709551611, expected 4" + where);
}

}  // namespace
}  // namespace dpsosp::networks::safetensors_test
