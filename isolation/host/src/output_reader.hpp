// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "dpsosp/isolation/program_output.hpp"

namespace dpsosp {

const OutputFollower& output_follower();

/// \param what  not empty
std::string with_replaced(std::string text, std::string_view what, std::string_view by);

/// Reads what a guest writes while it runs, so that it never waits, and keeps the last lines.
class OutputReader {
 public:
  /// \param replaced  what stands in the lines for `by`; empty: nothing
  OutputReader(std::string replaced, std::string by);
  /// Waits until no process can write any more.
  ~OutputReader();
  OutputReader(const OutputReader&) = delete;
  OutputReader& operator=(const OutputReader&) = delete;

  /// The descriptor to write to; of this process until close_writer().
  int writer() const { return pipe_[1]; }
  void close_writer();
  /// The last lines, when no process can write any more.
  const std::deque<std::string>& last_lines();

 private:
  void read();
  void take(std::string_view bytes);
  void end_line();

  std::string replaced_, by_;
  std::array<int, 2> pipe_{-1, -1};
  std::string line_;
  std::size_t left_out_ = 0;  // bytes of the line that is read
  bool returned_ = false;     // the last byte was a carriage return
  std::deque<std::string> last_;
  std::thread thread_;
};

}  // namespace dpsosp
