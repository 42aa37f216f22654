// SPDX-License-Identifier: Apache-2.0
#include "journal_index.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <tuple>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/sha256.hpp"
#include "stored_text.hpp"

namespace dpsosp {
namespace {

using Digest = JournalIndex::Digest;

unsigned char digit_value(char c) {
  return static_cast<unsigned char>(c <= '9' ? c - '0' : c - 'a' + 10);
}

Digest digest_from(std::string_view hex) {
  Digest digest{};
  for (std::size_t k = 0; k < digest.size(); ++k)
    digest[k] =
        static_cast<unsigned char>(digit_value(hex[2 * k]) * 16 + digit_value(hex[2 * k + 1]));
  return digest;
}

/// The journals that are read again: so many are open at a time.
class OpenJournals {
 public:
  explicit OpenJournals(const std::vector<std::filesystem::path>& files)
      : files_(files), descriptors_(files.size(), -1) {}
  ~OpenJournals() {
    for (const std::size_t file : open_) ::close(descriptors_[file]);
  }
  OpenJournals(const OpenJournals&) = delete;
  OpenJournals& operator=(const OpenJournals&) = delete;

  int descriptor(std::size_t file) {
    if (descriptors_[file] >= 0) return descriptors_[file];
    if (open_.size() >= most_open) {
      const std::size_t oldest = open_[next_];
      ::close(descriptors_[oldest]);
      descriptors_[oldest] = -1;
      open_[next_] = file;
      next_ = (next_ + 1) % most_open;
    } else {
      open_.push_back(file);
    }
    descriptors_[file] = ::open(files_[file].c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptors_[file] < 0)
      throw InputError(fmt::format("journal: {}: cannot be read ({})", files_[file].string(),
                                   std::strerror(errno)));
    return descriptors_[file];
  }

 private:
  static constexpr std::size_t most_open = 512;
  const std::vector<std::filesystem::path>& files_;
  std::vector<int> descriptors_;
  std::vector<std::size_t> open_;
  std::size_t next_ = 0;
};

}  // namespace

std::string to_hex(const Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += digits[byte >> 4U];
    hex += digits[byte & 15U];
  }
  return hex;
}

JournalIndex::JournalIndex(const std::vector<std::filesystem::path>& journals,
                           const JournalNotice& notice)
    : journals_(journals) {
  for (std::uint32_t file = 0; file < journals_.size(); ++file)
    read_journal(
        journals_[file],
        [&](const JournalHeader&, const Provenance& p) {
          // One build computes most journals, and its last one is mostly the one before.
          if (commons_.empty() ||
              !(commons_.back().build == p.build && commons_.back().cpu == p.cpu))
            commons_.push_back(p);
        },
        [&](const JournalRow& row) { take(row, file); }, notice);
  settle();
}

void JournalIndex::take(const JournalRow& row, std::uint32_t file) {
  const bool failed = row.status == to_string(RunStatus::failed);
  const std::string reason = reason_of(row);
  if (sha256(row.description) != row.key)
    throw InputError(fmt::format("journal: {}: run {} is not the one that its description says",
                                 journals_[file].string(), row.key));
  entries_.push_back({.key = digest_from(row.key),
                      .outcome = digest_from(outcome_digest(
                          row.key, row.status, reason, relabelled(row.description, row.result))),
                      .offset = row.offset,
                      .length = static_cast<std::uint32_t>(row.length),
                      .file = file,
                      .common = static_cast<std::uint32_t>(commons_.size() - 1),
                      .status = failed ? RunStatus::failed : RunStatus::finished,
                      .by_exception = failed && reason.starts_with(failed_by_exception)});
}

/// Leaves one entry a run, the first of those that say how it ended.
void JournalIndex::settle() {
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
    return std::tie(a.key, a.by_exception, a.file, a.offset) <
           std::tie(b.key, b.by_exception, b.file, b.offset);
  });
  auto kept = entries_.begin();
  for (auto first = entries_.begin(); first != entries_.end();) {
    const auto end =
        std::find_if(first, entries_.end(), [&](const Entry& e) { return e.key != first->key; });
    for (auto other = std::next(first); other != end; ++other) {
      if (other->by_exception || other->outcome == first->outcome) continue;
      refuse_contradiction(to_hex(first->key),
                           {first->status, journal(*first), common(*first).build},
                           {other->status, journal(*other), common(*other).build});
    }
    repeated_ += static_cast<std::size_t>(end - first) - 1;
    *kept++ = *first;
    first = end;
  }
  entries_.erase(kept, entries_.end());
}

void JournalIndex::each(const std::vector<Entry>& entries,
                        const std::function<void(const Entry&, const JournalRow&)>& visit) const {
  OpenJournals files(journals_);
  std::string bytes;
  for (const Entry& e : entries)
    visit(e,
          read_journal_row(files.descriptor(e.file), journals_[e.file], e.offset, e.length, bytes));
}

}  // namespace dpsosp
