// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dpsosp {

/// A program as its file was when it was read: a copy in memory, sealed against every change, so
/// that what is hashed is what is started.
class SealedProgram {
 public:
  enum class Needs { read, execute };
  /// \throws InputError where the file cannot be read, or may not be executed where it needs that
  explicit SealedProgram(const std::string& path, Needs needs = Needs::execute);
  ~SealedProgram();
  SealedProgram(const SealedProgram&) = delete;
  SealedProgram& operator=(const SealedProgram&) = delete;

  const std::string& path() const { return path_; }
  const std::string& bytes() const { return bytes_; }
  /// The file descriptor of the copy.
  int descriptor() const { return descriptor_; }

 private:
  std::string path_, bytes_;
  int descriptor_ = -1;
};

}  // namespace dpsosp
