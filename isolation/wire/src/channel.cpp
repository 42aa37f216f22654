// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/wire/channel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

#include <sched.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/utf8.hpp"

namespace dpsosp::wire {
namespace {

using Packer = msgpack::packer<msgpack::sbuffer>;

constexpr std::size_t prefix = 4;  // bytes of a message's length
constexpr std::size_t long_buffer = 1U << 16;
constexpr int most_patience = 800;  // looks of 0.2 us: longer than a wake-up, or both would sleep

/// Every message begins with its name, a text of MessagePack; what people write does not.
bool begins_a_text(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return (byte >= 0xa0 && byte < 0xc0) || (byte >= 0xd9 && byte <= 0xdb);
}

/// Asks the kernel and no file, which a guest could not read.
int processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

const char* kind_of(msgpack::type::object_type type) {
  switch (type) {
    case msgpack::type::NIL:
      return "nil";
    case msgpack::type::BOOLEAN:
      return "a boolean";
    case msgpack::type::POSITIVE_INTEGER:
    case msgpack::type::NEGATIVE_INTEGER:
      return "an integer";
    case msgpack::type::FLOAT32:
    case msgpack::type::FLOAT64:
      return "a number";
    case msgpack::type::STR:
      return "a text";
    default:
      return "bytes";
  }
}

}  // namespace

void Message::assign(const char* data, std::size_t size) {
  data_ = data;
  size_ = size;
  at_ = 0;
  peeked_ = false;
  parts_ = 0;
}

void Message::unexpected(const char* expected) const {
  throw Broken(parts_ == 1
                   ? fmt::format("its name is {}, expected {}", kind_of(part_.type), expected)
                   : fmt::format("its part {} is {}, expected {}", parts_ - 1, kind_of(part_.type),
                                 expected));
}

const msgpack::object& Message::next() {
  if (peeked_) {
    peeked_ = false;
    return part_;
  }
  if (at_ >= size_) throw Broken("a message ends too early");
  zone_.clear();
  const msgpack::unpack_limit flat(0, 0, size_, size_, 0, 1);  // no arrays, maps or extensions
  const auto in_place = [](msgpack::type::object_type, std::size_t, void*) { return true; };
  try {
    bool referenced = false;
    part_ = msgpack::unpack(zone_, data_, size_, at_, referenced, in_place, nullptr, flat);
    ++parts_;
  } catch (const msgpack::unpack_error&) {
    throw Broken("a message is not a list of MessagePack scalars, texts and bytes");
  }
  return part_;
}

bool Message::boolean() {
  const msgpack::object& part = next();
  if (part.type != msgpack::type::BOOLEAN) unexpected("true or false");
  return part.via.boolean;
}

std::int64_t Message::integer() {
  const msgpack::object& part = next();
  if (part.type == msgpack::type::NEGATIVE_INTEGER) return part.via.i64;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (part.type != msgpack::type::POSITIVE_INTEGER || part.via.u64 > most)
    unexpected("an integer of 64 bits");
  return static_cast<std::int64_t>(part.via.u64);
}

double Message::number() {
  const msgpack::object& part = next();
  switch (part.type) {
    case msgpack::type::FLOAT32:
    case msgpack::type::FLOAT64:
      return part.via.f64;
    case msgpack::type::POSITIVE_INTEGER:
      return static_cast<double>(part.via.u64);
    case msgpack::type::NEGATIVE_INTEGER:
      return static_cast<double>(part.via.i64);
    default:
      unexpected("a number");
  }
}

std::string_view Message::text() {
  const msgpack::object& part = next();
  if (part.type != msgpack::type::STR) unexpected("a text");
  const std::string_view text(part.via.str.ptr, part.via.str.size);
  if (!is_utf8(text)) throw Broken("a text is not UTF-8");
  return text;
}

std::string_view Message::bytes() {
  const msgpack::object& part = next();
  if (part.type != msgpack::type::BIN) unexpected("bytes");
  return {part.via.bin.ptr, part.via.bin.size};
}

bool Message::nil() {
  const msgpack::object& part = next();
  peeked_ = part.type != msgpack::type::NIL;
  return !peeked_;
}

void Message::end() const {
  if (at_ != size_ || peeked_) throw Broken("a message has more parts than are due");
}

void Channel::begin() {
  message_at_ = out_.size();
  out_.write("\0\0\0\0", prefix);
}

void Channel::end() {
  const std::size_t size = out_.size() - message_at_ - prefix;
  if (size > largest_message) throw Broken("a message of more than 256 MiB");
  for (std::size_t k = 0; k < prefix; ++k)
    out_.data()[message_at_ + k] = static_cast<char>(size >> (8 * k) & 0xFF);
  if (out_.size() > long_buffer) flush();
}

void Channel::flush() {
  std::size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t step = ::send(socket_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (step < 0 && errno == EINTR) continue;
    if (step < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) throw Broken("it reads no messages");
    if (step < 0) throw Gone("it is gone");
    sent += static_cast<std::size_t>(step);
  }
  out_.clear();
}

Channel::Channel(int socket)
    : socket_(socket), may_look_(processors() > 1), patience_(may_look_ ? most_patience : 0) {}

ssize_t Channel::read_some(char* out, std::size_t room) {
  // A thread that sleeps may take 60 us to wake, with its processor; most answers come sooner.
  // Where they do not, it looks less long, and then not at all, but for a try now and then.
  for (int k = 0; k < patience_; ++k) {
    const ssize_t step = ::recv(socket_, out, room, MSG_DONTWAIT);
    if (step >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
      patience_ = most_patience;
      return step;
    }
  }
  ++waits_;
  if (may_look_) patience_ = waits_ % 64 == 0 ? most_patience : patience_ / 2;
  return ::recv(socket_, out, room, 0);
}

void Channel::fill(std::size_t size) {
  if (read_to_ - read_from_ >= size) return;
  if (read_from_ > 0) {
    std::memmove(in_.data(), in_.data() + read_from_, read_to_ - read_from_);
    read_to_ -= read_from_;
    read_from_ = 0;
  }
  // Memory for what has come, not for what a length promises.
  while (read_to_ < size) {
    const std::size_t room = std::max(long_buffer, std::min(size, 2 * read_to_));
    if (in_.size() < room) in_.resize(room);
    const ssize_t step = read_some(in_.data() + read_to_, in_.size() - read_to_);
    if (step < 0 && errno == EINTR) continue;
    if (step < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      throw Broken(read_to_ > 0 ? "it is silent in the middle of a message" : "it is silent");
    if (step <= 0) throw Gone("it is gone");
    read_to_ += static_cast<std::size_t>(step);
  }
}

Message& Channel::receive() {
  flush();
  fill(prefix);
  std::size_t size = 0;
  for (std::size_t k = 0; k < prefix; ++k)
    size |= std::size_t{static_cast<unsigned char>(in_[read_from_ + k])} << (8 * k);
  if (size > largest_message) refuse_text();
  if (size > 0) {  // seen before the rest of a length that text may stand for is waited for
    fill(prefix + 1);
    if (!begins_a_text(in_[read_from_ + prefix])) refuse_text();
  }
  fill(prefix + size);
  message_.assign(in_.data() + read_from_ + prefix, size);
  read_from_ += prefix + size;
  return message_;
}

void Channel::refuse_text() const {
  constexpr std::size_t shown = 60;
  const std::size_t size = std::min(shown, read_to_ - read_from_);
  throw Broken(fmt::format("what came through its socket is no message of the protocol: '{}'",
                           InputError(std::string(in_.data() + read_from_, size)).what()));
}

void Channel::put_nil() { Packer(out_).pack_nil(); }
void Channel::put_bytes(const void* data, std::size_t size) {
  if (size > largest_message) throw Broken("a message of more than 256 MiB");
  Packer(out_).pack_bin(static_cast<std::uint32_t>(size));
  Packer(out_).pack_bin_body(static_cast<const char*>(data), static_cast<std::uint32_t>(size));
}

void put(Channel& channel, bool value) { Packer(channel.out_).pack(value); }
void put(Channel& channel, double value) {
  // Some versions of msgpack write a number that is whole as an integer, which has no −0.
  constexpr std::size_t size = 8;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  std::array<char, 1 + size> bytes{'\xcb'};
  for (std::size_t k = 0; k < size; ++k)
    bytes[size - k] = static_cast<char>(bits >> (8 * k) & 0xff);
  channel.out_.write(bytes.data(), bytes.size());
}
void put(Channel& channel, std::int64_t value) { Packer(channel.out_).pack_int64(value); }
void put(Channel& channel, std::string_view value) {
  Packer(channel.out_).pack_str(static_cast<std::uint32_t>(value.size()));
  Packer(channel.out_).pack_str_body(value.data(), static_cast<std::uint32_t>(value.size()));
}

}  // namespace dpsosp::wire
