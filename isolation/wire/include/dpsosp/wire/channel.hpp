// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <msgpack.hpp>

namespace dpsosp::wire {

/// Descriptors of a guest beside the standard ones, which are not the protocol's: an author's
/// `print` harms nothing. A program is told the first in DPSOSP_SOCKET.
inline constexpr int socket_of_guest = 3, file_of_program = 4;

/// The other side is gone, silent, or says what the protocol does not have.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The other side has closed its end.
class Gone : public Broken {
 public:
  using Broken::Broken;
};

/// A received message: parts, read in their order. No part has parts of its own.
class Message {
 public:
  /// True, false, integers, numbers, text and bytes. \throws Broken if the next part is another
  bool boolean();
  std::int64_t integer();
  /// Integers count as numbers.
  double number();
  std::string_view text();
  /// Valid until the next message.
  std::string_view bytes();
  /// Takes the next part if it is nil.
  bool nil();
  /// \throws Broken if parts are left
  void end() const;

 private:
  friend class Channel;
  void assign(const char* data, std::size_t size);
  const msgpack::object& next();
  [[noreturn]] void unexpected(const char* expected) const;

  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t at_ = 0;
  msgpack::zone zone_;
  msgpack::object part_;
  bool peeked_ = false;
  int parts_ = 0;  // read so far, with the name
};

/// Messages over a connected stream socket. A message is its length in bytes, four of them with the
/// lowest first, and a name and parts in MessagePack.
class Channel {
 public:
  static constexpr std::size_t largest_message = std::size_t{1} << 28;

  /// \param socket  stays the caller's
  explicit Channel(int socket);

  /// Puts a message into the buffer of what goes out; sends a long buffer.
  template <class... Parts>
  void post(std::string_view name, const Parts&... parts) {
    begin();
    put(*this, name);
    (put(*this, parts), ...);
    end();
  }
  /// Sends what was posted. \throws Broken
  void flush();
  /// The next message, after sending what was posted. \throws Broken
  Message& receive();

  void put_nil();
  void put_bytes(const void* data, std::size_t size);

  friend void put(Channel& channel, bool value);
  friend void put(Channel& channel, double value);
  friend void put(Channel& channel, std::int64_t value);
  friend void put(Channel& channel, std::string_view value);
  friend void put(Channel& channel, const char* value) { put(channel, std::string_view(value)); }

 private:
  void begin();
  void end();
  /// Makes `size` bytes of the stream available at read_from_.
  void fill(std::size_t size);
  [[noreturn]] void refuse_text() const;

  ssize_t read_some(char* out, std::size_t room);

  int socket_;
  bool may_look_;  // there is another processor
  int patience_;   // how often it looks for an answer before it sleeps
  std::uint64_t waits_ = 0;
  msgpack::sbuffer out_;
  std::size_t message_at_ = 0;
  std::vector<char> in_;
  std::size_t read_from_ = 0, read_to_ = 0;
  Message message_;
};

}  // namespace dpsosp::wire
