// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/journal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <random>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/json_members.hpp"
#include "dpsosp/experiments/sha256.hpp"
#include "stored_text.hpp"

// SQLite's log needs the memory of one host, and locks on NFS and Lustre depend on how they are
// mounted, so processes on several machines append to files of their own and one process owns the
// store. A line ends in the SHA-256 of what is before it: a CRC would do, but SHA-256 is there
// already, and a shell can check it. An end without a line feed, or with zeros and nothing whole
// after it, is what a dying machine leaves; any other line that does not check is damage.

namespace dpsosp {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int journal_version = 1;
constexpr std::string_view ending = ".jsonl";
constexpr double most_unsynchronised = 0.25;  // CPU seconds
constexpr std::string_view header_start = R"({"journal":)";
constexpr std::string_view digest_key = R"(,"sha256":")";
constexpr std::size_t digest_digits = 64;
constexpr std::size_t digest_tail = digest_key.size() + digest_digits + 2;  // with "}

[[noreturn]] void cannot(const fs::path& file, std::string_view what, int error) {
  throw InputError(
      fmt::format("journal: {}: cannot be {} ({})", file.string(), what, std::strerror(error)));
}

/// A file open for reading.
class JournalFile {
 public:
  explicit JournalFile(const fs::path& file)
      : file_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) cannot(file, "read", errno);
  }
  ~JournalFile() { ::close(descriptor_); }
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  std::uint64_t size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) cannot(file_, "read", errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  /// Reads up to `count` bytes at the end of `bytes`. \return how many; 0 at the end of the file
  std::size_t append_to(std::string& bytes, std::uint64_t offset, std::size_t count) const {
    const std::size_t before = bytes.size();
    bytes.resize(before + count);
    for (;;) {
      const ssize_t got =
          ::pread(descriptor_, bytes.data() + before, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) cannot(file_, "read", errno);
      bytes.resize(before + static_cast<std::size_t>(got));
      return static_cast<std::size_t>(got);
    }
  }

 private:
  const fs::path& file_;
  int descriptor_;
};

/// A line without the carriage return that comes with some copies of text.
std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// True if a line was not written to its end before the power went: no line has a zero.
bool has_a_hole(std::string_view line) { return line.find('\0') != std::string_view::npos; }

/// True if a line, without its end, ends in the digest of what is before it.
bool is_whole(std::string_view line) {
  if (line.size() < digest_tail || !line.ends_with("\"}")) return false;
  const std::string_view body = line.substr(0, line.size() - digest_tail);
  const std::string_view tail = line.substr(body.size());
  return tail.starts_with(digest_key) &&
         tail.substr(digest_key.size(), digest_digits) == sha256(body);
}

/// The body of a line with its digest and its end.
std::string sealed(std::string body) {
  const std::string digest = sha256(body);
  body += digest_key;
  body += digest;
  body += "\"}\n";
  return body;
}

/// Reads the members of a line in the order in which they were written.
class MemberReader {
 public:
  explicit MemberReader(std::string_view line) : line_(line) {}

  /// The text of the value under the next name; empty where another name is next.
  std::string_view value(std::string_view name) {
    const std::string start = fmt::format("{}\"{}\":", at_ == 0 ? '{' : ',', name);
    if (!line_.substr(at_).starts_with(start)) return {};
    const std::size_t first = at_ + start.size();
    at_ = end_of_value(first);
    return line_.substr(first, at_ - first);
  }
  /// The same without the quotes, where nothing in it is escaped.
  std::string_view word(std::string_view name) {
    const std::string_view text = value(name);
    return text.size() < 2 ? std::string_view{} : text.substr(1, text.size() - 2);
  }

 private:
  std::size_t end_of_string(std::size_t at) const {
    for (++at; at < line_.size() && line_[at] != '"'; ++at)
      if (line_[at] == '\\') ++at;
    return std::min(at + 1, line_.size());
  }
  std::size_t end_of_value(std::size_t at) const {
    std::size_t depth = 0;
    while (at < line_.size()) {
      const char c = line_[at];
      if (c == '"') {
        at = end_of_string(at);
        if (depth == 0) return at;
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at;
      if (depth == 0 && (c == '}' || c == ']')) return at;
    }
    return at;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

std::string origin_text(const Provenance& p) {
  return json{{"program_version", p.build.program_version},
              {"binary", p.build.binary},
              {"compiler", p.build.compiler},
              {"flags", p.build.flags},
              {"instruction_set", p.build.instruction_set},
              {"cpu", p.cpu}}
      .dump();
}

std::string header_line(const JournalHeader& header, const std::string& origin) {
  json of = write_json(header);
  return sealed(fmt::format(R"({}{},"header":{},"origin":{})", header_start, journal_version,
                            of.dump(), origin));
}

JournalRow row_of(std::string_view line) {
  MemberReader members(line);
  JournalRow row;
  row.key = members.word("key");
  row.status = members.word("status");
  row.reason = members.value("reason");
  row.origin = members.value("origin");
  row.description = members.value("description");
  row.result = members.value("result");
  return row;
}

[[noreturn]] void unknown_form(const fs::path& file, std::size_t line) {
  throw InputError(fmt::format(
      "journal: {}: line {} has a form that this program does not know; use the one that wrote it",
      file.string(), line));
}

std::pair<JournalHeader, Provenance> header_of(std::string_view line, const fs::path& file,
                                               std::size_t number) {
  try {
    const json all = json::parse(line);
    if (all.at("journal") != journal_version) unknown_form(file, number);
    const json& o = all.at("origin");
    Provenance p{.build = {.program_version = o.at("program_version"),
                           .binary = o.at("binary"),
                           .compiler = o.at("compiler"),
                           .flags = o.at("flags"),
                           .instruction_set = o.at("instruction_set")},
                 .cpu = o.at("cpu")};
    return {read_json<JournalHeader>(all.at("header"), {file.string()}), std::move(p)};
  } catch (const json::exception&) {
    unknown_form(file, number);
  }
}

/// A name that no other attempt has, even on another machine.
std::string unique_suffix() {
  std::random_device entropy;
  return fmt::format("{:08x}", entropy());
}

}  // namespace

Journal::Journal(const fs::path& folder, const JournalHeader& header, const std::string& attempt,
                 Known known, Seconds seconds)
    : known_(std::move(known)), seconds_(std::move(seconds)) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw InputError(
        fmt::format("journal: cannot make the folder {}: {}", folder.string(), error.message()));
  file_ = folder / fmt::format("{:06}.{}.{}{}", header.shard, attempt, unique_suffix(), ending);
  descriptor_ = ::open(file_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) cannot(file_, "written", errno);
  state_.header = header;
  origin_ = origin_text(provenance());
  try {
    append(header_line(state_.header, origin_));
    synchronise();
  } catch (const InputError&) {
    ::close(descriptor_);
    ::unlink(file_.c_str());
    throw;
  }
  for (const auto& [key, expected] : seconds_)
    if (!known_.contains(key)) state_.left_seconds += expected;
}

Journal::~Journal() {
  if (descriptor_ < 0) return;
  ::fsync(descriptor_);
  ::close(descriptor_);
}

std::optional<RunStatus> Journal::status(const RunKey& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(key.hash());
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

std::size_t Journal::done() const {
  const std::scoped_lock lock(mutex_);
  return state_.done;
}

void Journal::fail(int error) const {
  throw InputError(fmt::format(
      "journal: {}: cannot be written ({}){}; the {} runs in it are kept, and the same command "
      "goes on from there",
      file_.string(), std::strerror(error),
      error == ENOSPC || error == EDQUOT ? ": is the disk full, or a quota used up?" : "",
      state_.done));
}

void Journal::append(const std::string& line) {
  if (broken_) fail(EIO);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      broken_ = ::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0;
      fail(error);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += line.size();
}

void Journal::synchronise() {
  if (::fsync(descriptor_) != 0) {
    broken_ = true;  // what was written since the last time may be lost
    fail(errno);
  }
  unsynchronised_ = 0;
}

void Journal::put(const StoredRun& run, const Provenance& p) {
  const std::string result = result_text(run.result);
  const std::scoped_lock lock(mutex_);
  if (const std::string origin = origin_text(p); origin != origin_) {
    append(header_line(state_.header, origin));
    origin_ = origin;
  }
  JournalState next = state_;
  ++next.done;
  if (run.status == RunStatus::failed) ++next.failed;
  next.cpu_seconds += p.cpu_seconds;
  if (const auto expected = seconds_.find(run.key.hash()); expected != seconds_.end())
    next.left_seconds = std::max(0.0, next.left_seconds - expected->second);
  const json of{{"numbers_version", p.numbers_version},
                {"seed", p.seed},
                {"started", p.started},
                {"wall_seconds", p.wall_seconds},
                {"cpu_seconds", p.cpu_seconds}};
  append(sealed(fmt::format(
      R"({{"key":"{}","status":"{}","reason":{},"origin":{},"description":{},"result":{},"done":{},"failed":{},"cpu_seconds":{},"left_seconds":{})",
      run.key.hash(), to_string(run.status),
      json(run.reason).dump(-1, ' ', false, json::error_handler_t::replace), of.dump(),
      run.key.text(), result, next.done, next.failed, next.cpu_seconds, next.left_seconds)));
  state_ = next;
  known_[run.key.hash()] = run.status;
  unsynchronised_ += p.cpu_seconds;
  if (unsynchronised_ >= most_unsynchronised) synchronise();
}

void read_journal(const fs::path& name,
                  const std::function<void(const JournalHeader&, const Provenance&)>& header,
                  const std::function<void(const JournalRow&)>& visit,
                  const JournalNotice& notice) {
  constexpr std::size_t block = std::size_t{1} << 20U;
  const JournalFile file(name);
  std::string bytes;
  std::uint64_t offset = 0;      // of the first byte in `bytes`
  std::size_t number = 0;        // of lines read
  std::size_t first_broken = 0;  // number of the line; 0: none
  bool any_header = false;
  const auto take = [&](std::string_view with_return, std::uint64_t at) {
    ++number;
    const std::string_view line = without_return(with_return);
    const bool whole = is_whole(line);
    if (!whole && first_broken == 0) first_broken = number;
    if (!whole && has_a_hole(line)) return;
    if (first_broken != 0)
      throw InputError(
          fmt::format("journal: {} is damaged: line {} is not what was written; take another copy "
                      "of the file, or move it away and let its runs be computed again",
                      name.string(), first_broken));
    if (line.starts_with(header_start)) {
      const auto [h, common] = header_of(line, name, number);
      any_header = true;
      if (header) header(h, common);
      return;
    }
    JournalRow row = row_of(line);
    if (!any_header || row.key.empty() || row.description.empty() || row.result.empty())
      unknown_form(name, number);
    row.offset = at;
    row.length = with_return.size() + 1;
    visit(row);
  };
  for (;;) {
    const std::size_t known = bytes.size();
    if (file.append_to(bytes, offset + known, block) == 0) break;
    std::size_t start = 0;
    for (std::size_t from = known;;) {
      const std::size_t end = bytes.find('\n', from);
      if (end == std::string::npos) break;
      take(std::string_view(bytes).substr(start, end - start), offset + start);
      start = from = end + 1;
    }
    bytes.erase(0, start);
    offset += start;
  }
  if (!bytes.empty() && first_broken == 0) first_broken = number + 1;
  if (first_broken != 0 && notice)
    notice(fmt::format("{}: its torn end, from line {}, is left out", name.string(), first_broken));
}

JournalRow read_journal_row(int descriptor, const fs::path& file, std::uint64_t offset,
                            std::size_t length, std::string& bytes) {
  bytes.resize(length);
  std::size_t got = 0;
  while (got < length) {
    const ssize_t more =
        ::pread(descriptor, bytes.data() + got, length - got, static_cast<off_t>(offset + got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) cannot(file, "read", errno);
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  const std::string_view line = without_return(std::string_view(bytes).substr(0, length - 1));
  if (got < length || !is_whole(line))
    throw InputError(fmt::format("journal: {} has changed while it was read", file.string()));
  return row_of(line);
}

std::string reason_of(const JournalRow& row) { return json::parse(row.reason).get<std::string>(); }

Provenance provenance_of(const JournalRow& row, const Provenance& common) {
  const json of = json::parse(row.origin);
  Provenance p = common;
  p.numbers_version = of.at("numbers_version");
  p.seed = of.at("seed");
  p.started = of.at("started");
  p.wall_seconds = of.at("wall_seconds");
  p.cpu_seconds = of.at("cpu_seconds");
  return p;
}

std::optional<JournalState> journal_state(const fs::path& name) {
  constexpr std::size_t first_block = 4096;
  const JournalFile file(name);
  const std::uint64_t size = file.size();
  std::string start;
  while (start.find('\n') == std::string::npos)
    if (file.append_to(start, start.size(), first_block) == 0) return std::nullopt;
  const std::string_view first =
      without_return(std::string_view(start).substr(0, start.find('\n')));
  if (!is_whole(first) || !first.starts_with(header_start)) return std::nullopt;
  JournalState state{.header = header_of(first, name, 1).first};
  // Backwards from the end, in growing blocks, to the last line that is whole.
  for (std::uint64_t block = first_block;; block *= 4) {
    const std::uint64_t from = size > block ? size - block : 0;
    std::string end;
    while (end.size() < size - from &&
           file.append_to(end, from + end.size(),
                          static_cast<std::size_t>(size - from) - end.size()) > 0) {
    }
    for (std::size_t at = end.rfind('\n'); at != std::string::npos && at > 0;) {
      const std::size_t before = end.rfind('\n', at - 1);
      if (before == std::string::npos && from > 0) break;  // its beginning is not here
      const std::size_t begin = before == std::string::npos ? 0 : before + 1;
      const std::string_view line = without_return(std::string_view(end).substr(begin, at - begin));
      if (is_whole(line)) {
        if (line.starts_with(header_start)) return state;
        const json counts =
            json::parse("{" + std::string(line.substr(line.rfind(R"(,"done":)") + 1)));
        state.done = counts.at("done");
        state.failed = counts.at("failed");
        state.cpu_seconds = counts.at("cpu_seconds");
        state.left_seconds = counts.at("left_seconds");
        return state;
      }
      if (before == std::string::npos) break;
      at = before;
    }
    if (from == 0) return state;
  }
}

std::size_t shard_of_journal(const fs::path& file) {
  const std::string name = file.filename().string();
  std::size_t shard = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), shard);
  return error == std::errc{} && *end == '.' ? shard : 0;
}

bool is_journal(const fs::path& file) { return file.filename().string().ends_with(ending); }

std::vector<fs::path> journals_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  if (!fs::exists(folder, error)) return files;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (is_journal(entry->path()) && shard_of_journal(entry->path()) > 0)
      files.push_back(entry->path());
  if (error)
    throw InputError(
        fmt::format("journal: {}: cannot be read ({})", folder.string(), error.message()));
  std::ranges::sort(files);
  return files;
}

}  // namespace dpsosp
