// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/experiments/journal.hpp"

namespace dpsosp {

/// Where the runs of some journals stand, in the order of their keys, each once: 88 bytes a run.
class JournalIndex {
 public:
  using Digest = std::array<unsigned char, 32>;

  struct Entry {
    Digest key;
    Digest outcome;
    std::uint64_t offset;
    std::uint32_t length;
    std::uint32_t file;
    std::uint32_t common;  ///< position in the provenances that headers have
    RunStatus status;
    bool by_exception;
  };

  /// Reads all journals once.
  /// \throws InputError naming a run that ended in two ways, or a journal that is damaged
  JournalIndex(const std::vector<std::filesystem::path>& journals, const JournalNotice& notice);

  const std::vector<Entry>& entries() const { return entries_; }
  /// Runs that stand in more than one place with the same outcome, counted without the first.
  std::size_t repeated() const { return repeated_; }
  const Provenance& common(const Entry& entry) const { return commons_[entry.common]; }
  const std::filesystem::path& journal(const Entry& entry) const { return journals_[entry.file]; }

  /// Reads the lines of these entries again, in their order.
  void each(const std::vector<Entry>& entries,
            const std::function<void(const Entry&, const JournalRow&)>& visit) const;

 private:
  void take(const JournalRow& row, std::uint32_t file);
  void settle();

  std::vector<std::filesystem::path> journals_;
  std::vector<Provenance> commons_;
  std::vector<Entry> entries_;
  std::size_t repeated_ = 0;
};

std::string to_hex(const JournalIndex::Digest& digest);

}  // namespace dpsosp
