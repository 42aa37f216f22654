// SPDX-License-Identifier: Apache-2.0
// The bytes of a message, which programs in other languages read and write too.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/wire/parts.hpp"

namespace dpsosp::wire_test {
namespace {

using wire::Channel;

class Pair {
 public:
  Pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~Pair() {
    for (const int end : ends_) ::close(end);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  int end(std::size_t k) const { return ends_[k]; }

 private:
  std::array<int, 2> ends_{};
};

/// Hexadecimal, without the message's length and its name, "m".
template <class T>
std::string sent(const T& value) {
  const Pair pair;
  Channel channel(pair.end(0));
  channel.post("m", value);
  channel.flush();
  std::array<unsigned char, 4096> bytes{};
  const ssize_t size = ::recv(pair.end(1), bytes.data(), bytes.size(), 0);
  std::string text;
  for (ssize_t k = 6; k < size; ++k)
    text += fmt::format("{:02x}", bytes.at(static_cast<std::size_t>(k)));
  return text;
}

template <class T>
T returned(const T& value) {
  const Pair pair;
  Channel there(pair.end(0)), here(pair.end(1));
  there.post("m", value);
  there.flush();
  wire::Message& message = here.receive();
  EXPECT_EQ(message.text(), "m");
  T read = wire::get<T>(message);
  message.end();
  return read;
}

// MessagePack: cb and eight bytes is a number, one byte below 80 an integer; a0 + length a text, c0
// nil, c2 and c3 false and true, c4 and a length bytes.
constexpr const char* one_half = "cb3fe0000000000000";

std::string text_of(const std::string& text) {
  std::string hex = fmt::format("{:02x}", 0xa0 + text.size());
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

TEST(WireBytes, OfAQueryAreItsMembersInTheListedOrder) {
  const CombinationQuery query{.limit = 0.5,
                               .difference_limit = 2,
                               .noise = Noise::standard_deviation(0.25),
                               .block = Block::joint};
  EXPECT_EQ(sent(query), one_half + std::string("cb4000000000000000") +
                             text_of("standard_deviation") + "cb3fd0000000000000" +
                             text_of("joint"));
}

TEST(WireBytes, OfAnAbsentRangeAreTwoNilsAndOfOneItsEnds) {
  ChildSpec spec{"a", 0.5};
  const std::string head = text_of("a") + one_half, tail = "c0c0c0c0c2c0c0";
  EXPECT_EQ(sent(spec), head + "c0c0" + tail);
  spec.range = RecordRange{1, 3};
  EXPECT_EQ(sent(spec), head + "01" + "03" + tail);
}

TEST(WireBytes, OfATableAreItsSizeThenNamesAndValues) {
  const Outcome outcome{.point = Vector::Zero(1), .steps = 2, .counts = {{"b", 7}, {"a", 5}}};
  EXPECT_EQ(sent(outcome), text_of("steps_done") + "02" + "c4080000000000000000" + "02" +
                               text_of("a") + "05" + text_of("b") + "07");
}

TEST(WireParts, GiveAStructBack) {
  ChildSpec spec{"half", 0.25};
  spec.range = RecordRange{10, 20};
  spec.pure_share = 0.5;
  spec.pure = true;
  spec.projection = Projection{Matrix::Constant(2, 3, 1.5), 4};
  const ChildSpec read = returned(spec);
  EXPECT_EQ(read.name, spec.name);
  EXPECT_EQ(read.share, spec.share);
  EXPECT_EQ(read.range, spec.range);
  EXPECT_FALSE(read.initial_point.has_value());
  EXPECT_EQ(read.pure_share, spec.pure_share);
  EXPECT_TRUE(read.pure);
  ASSERT_TRUE(read.projection.has_value());
  EXPECT_EQ(read.projection->map, spec.projection->map);
  EXPECT_EQ(read.projection->cap, 4);
}

/// A text that is written where messages are due is seen as one, whatever length it would stand
/// for, before the rest of that length is waited for.
TEST(WireText, IsRefusedWithWhatWasWritten) {
  const auto refusal = [](std::string_view written) -> std::string {
    const Pair pair;
    Channel there(pair.end(0)), here(pair.end(1));
    EXPECT_EQ(::send(pair.end(0), written.data(), written.size(), 0), std::ssize(written));
    there.post("m", 1.5);  // as a program goes on that does not know of its print
    there.flush();
    try {
      here.receive();
    } catch (const wire::Broken& e) {
      return e.what();
    }
    return "none";
  };
  const std::string before = "what came through its socket is no message of the protocol: '";
  for (const std::string_view written : {"hello\n", "x", "\n", "ab", "abc\ndef", "step 1 of 100\n"})
    EXPECT_EQ(refusal(written).find(before + InputError(std::string(written)).what()), 0U)
        << refusal(written);
  EXPECT_EQ(refusal(""), "none");
}

TEST(WireParts, OfAWrongKindAreNamedByTheirPlace) {
  const Pair pair;
  Channel there(pair.end(0)), here(pair.end(1));
  there.post("draw", Index{0}, "fresh", 12.5);
  there.flush();
  wire::Message& m = here.receive();
  EXPECT_EQ(m.text(), "draw");
  m.integer();
  m.text();
  try {
    m.integer();
    FAIL();
  } catch (const wire::Broken& e) {
    EXPECT_STREQ(e.what(), "its part 3 is a number, expected an integer of 64 bits");
  }
}

}  // namespace
}  // namespace dpsosp::wire_test
