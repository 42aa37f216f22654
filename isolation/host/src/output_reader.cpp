// SPDX-License-Identifier: Apache-2.0
#include "output_reader.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

constexpr std::size_t most_lines = 20;
constexpr std::size_t longest_line = 1000;  // bytes

OutputFollower& the_follower() {
  static OutputFollower one;
  return one;
}

}  // namespace

void follow_output(OutputFollower follower) { the_follower() = std::move(follower); }
const OutputFollower& output_follower() { return the_follower(); }

std::string with_replaced(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

OutputReader::OutputReader(std::string replaced, std::string by)
    : replaced_(std::move(replaced)), by_(std::move(by)) {
  if (pipe2(pipe_.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("isolated run: {}", std::strerror(errno)));
  thread_ = std::thread([this] { read(); });
}

OutputReader::~OutputReader() {
  close_writer();
  if (thread_.joinable()) thread_.join();
  close(pipe_[0]);
}

void OutputReader::close_writer() {
  if (pipe_[1] >= 0) close(std::exchange(pipe_[1], -1));
}

const std::deque<std::string>& OutputReader::last_lines() {
  if (thread_.joinable()) thread_.join();
  return last_;
}

void OutputReader::read() {
  std::array<char, 1U << 14> bytes{};
  while (true) {
    const ssize_t got = ::read(pipe_[0], bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    take({bytes.data(), static_cast<std::size_t>(got)});
  }
  if (!line_.empty()) end_line();
}

void OutputReader::take(std::string_view bytes) {
  for (const char c : bytes) {
    const bool ends = c == '\n' || c == '\r';  // progress bars write over their line
    if (ends && !(c == '\n' && returned_)) end_line();
    returned_ = c == '\r';
    if (ends) continue;
    if (line_.size() < longest_line)
      line_ += c;
    else
      ++left_out_;
  }
}

void OutputReader::end_line() {
  std::string shown;
  for (const char c : line_) shown += c == '\t' ? "    " : std::string(1, c);
  if (left_out_ > 0) shown += fmt::format("... and {} bytes more", left_out_);
  if (!replaced_.empty()) shown = with_replaced(std::move(shown), replaced_, by_);
  shown = InputError(shown).what();  // without what steers a terminal
  line_.clear();
  left_out_ = 0;
  if (const auto& told = output_follower().line) told(shown);
  last_.push_back(std::move(shown));
  if (last_.size() > most_lines) last_.pop_front();
}

}  // namespace dpsosp
