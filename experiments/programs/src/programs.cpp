// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/programs.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/core/numbers.hpp"
#include "dpsosp/core/text_file.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/sha256.hpp"
#include "dpsosp/experiments/toml_reader.hpp"
#include "dpsosp/isolation/program_algorithm.hpp"

// Seeds of sweeps are 0, 1, 2, ...: a program could carry the generator, guess the seed and
// subtract the noise. So its noise has a secret, drawn after the program was written and kept
// beside the store. Hashes of a program are in descriptions, as a store must compute anew after an
// edit, and not in random numbers, so that two versions are compared at common noise. On a caller's
// own records they are, since common noise would bare the difference of two answers.

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view card_ending = ".toml";
constexpr std::size_t most_files = 10000;  // of a folder that is read

/// The hash of a file that a program may read. Results are computed from records.
std::string hash_of_file(const fs::path& path, const TomlNode& named) {
  const std::string bytes = read_file(path);
  constexpr std::size_t id_of_format = 68;  // of the header of an SQLite file
  if (bytes.starts_with("SQLite format 3") && bytes.substr(id_of_format, 4) == "dpsp")
    named.fail(fmt::format("{} is a store of dpsosp, expected nothing that depends on records",
                           path.string()));
  return sha256(bytes);
}

/// Hash of a folder's content: of an environment of Python's, of its installer's records,
/// and of the single files beside these.
std::string hash_of_folder(const fs::path& folder, const TomlNode& named) {
  const bool environment = fs::exists(folder / "pyvenv.cfg");
  std::map<std::string, std::string> sums;
  auto entry = fs::recursive_directory_iterator(folder);
  for (; entry != fs::recursive_directory_iterator(); ++entry) {
    const fs::path& path = entry->path();
    if (entry->is_directory() &&
        (path.filename() == "__pycache__" || path.filename() == ".git" ||
         (environment && path.parent_path().filename() == "site-packages" &&
          path.extension() != ".dist-info"))) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file() ||
        (environment && path.filename() != "RECORD" && path.filename() != "pyvenv.cfg" &&
         path.parent_path().filename() != "site-packages"))
      continue;
    sums[fs::relative(path, folder).string()] = hash_of_file(path, named);
    if (sums.size() > most_files)
      named.fail(fmt::format(
          "{} holds more than {} files, expected files, small folders or a virtual environment",
          folder.string(), most_files));
  }
  std::string all;
  for (const auto& [name, sum] : sums) all += fmt::format("{} {}\n", sum, name);
  return sha256(all);
}

/// Reads a card and what it names.
class CardReader {
 public:
  explicit CardReader(const fs::path& card)
      : folder_(fs::absolute(card).parent_path()), document_(read_file(card), card.string()) {}

  Program read() {
    const TomlTable t = document_.root();
    t.allow({"key", "title", "program", "interpreter", "reads", "settings", "paper", "place",
             "source", "guarantee", "metric", "rate", "operations", "output_rule", "needs_dual",
             "single_pass", "numbers_version"});
    read_card(t);
    read_files(t);
    if (t.has("settings")) read_settings(t.at("settings").table());
    program_.card.files["settings"] = hash_of_settings();
    return std::move(program_);
  }

 private:
  void read_card(const TomlTable& t) {
    AlgorithmCard& c = program_.card;
    c.key = t.at("key").text();
    const auto slash = c.key.find('/');
    if (slash == std::string::npos) t.at("key").refuse("\"YOU-YEAR/NAME\"");
    for (const std::string& part : {c.key.substr(0, slash), c.key.substr(slash + 1)})
      t.at("key").checked([&] { check_id("key", part); });
    c.title = t.at("title").text();
    const auto text = [&](const char* name, std::string otherwise) {
      return t.has(name) ? t.at(name).text() : std::move(otherwise);
    };
    c.paper = text("paper", "unpublished");
    c.place = text("place", "its program");
    c.guarantee = text("guarantee", "none");
    c.rate = text("rate", "none proved");
    c.operations = text("operations", "gradients");
    c.output_rule = text("output_rule", "the program's");
    const auto word = [&]<class Enum>(const char* name, Enum& value) {
      if (t.has(name))
        value = t.at(name).checked([&] { return from_word<Enum>(t.at(name).text()); });
    };
    word("source", c.source);
    word("metric", c.metric);
    if (t.has("needs_dual")) c.needs_dual = t.at("needs_dual").boolean();
    if (t.has("single_pass")) c.single_pass = t.at("single_pass").boolean();
    if (t.has("numbers_version"))
      c.numbers_version = static_cast<int>(t.at("numbers_version").integer(1, 1000000));
  }

  /// A path of the card, which is relative to its folder.
  fs::path path_of(const TomlNode& node) const {
    // The last link is not followed: an environment's interpreter is one.
    const fs::path named(node.text());
    return (named.is_absolute() ? named : folder_ / named).lexically_normal();
  }

  void read_files(const TomlTable& t) {
    const TomlNode node = t.at("program");
    const bool interpreted = t.has("interpreter");
    program_.file = node.checked([&] {
      return std::make_shared<const SealedProgram>(
          path_of(node).string(),
          interpreted ? SealedProgram::Needs::read : SealedProgram::Needs::execute);
    });
    program_.card.files["program: " + path_of(node).filename().string()] =
        sha256(program_.file->bytes());
    if (interpreted) read_interpreter(t.at("interpreter"));
    if (t.has("reads"))
      for (const TomlNode& item : t.at("reads").array())
        add_readable(item, path_of(item), "reads: " + item.text());
    if (interpreted) check_interpreter(t.at("interpreter"));
  }

  void read_interpreter(const TomlNode& node) {
    const fs::path path = path_of(node);
    if (access(path.c_str(), X_OK) != 0 || !fs::is_regular_file(path))
      node.refuse("a program that may be executed");
    program_.surroundings.interpreter = path.string();
    const fs::path prefix = path.parent_path().parent_path();
    if (fs::exists(prefix / "pyvenv.cfg")) {
      add_readable(node, prefix, "environment");
      program_.surroundings.modules.pop_back();  // its interpreter knows where its modules are
    }
    // The interpreter itself, where it is none of the system's.
    const fs::path base = fs::canonical(path).parent_path().parent_path();
    if (base != "/usr" && base != "/")
      for (const char* part : {"bin", "lib"})
        program_.surroundings.readable.push_back((base / part).string());
  }

  /// Of one that the sandbox may not read, the kernel says "Permission denied" alone.
  void check_interpreter(const TomlNode& node) const {
    const fs::path real = fs::canonical(program_.surroundings.interpreter);
    const auto holds = [&](const fs::path& folder) {
      std::error_code error;
      const fs::path within = real.lexically_relative(fs::weakly_canonical(folder, error));
      return !within.empty() && *within.begin() != "..";
    };
    const std::vector<std::string>& readable = program_.surroundings.readable;
    if (!holds("/usr") && std::ranges::none_of(readable, holds))
      node.refuse(
          "one below /usr, in a folder bin, or in what `reads` names; where it is the script of a "
          "version manager, `python3 -c 'import sys; print(sys.executable)'` prints the "
          "interpreter behind it");
  }

  void add_readable(const TomlNode& node, const fs::path& path, const std::string& name) {
    std::error_code error;
    const bool folder = fs::is_directory(path, error);
    if (const std::string why = why_unreadable(path); !folder && !why.empty())
      node.fail(fmt::format("{} {}", path.string(), why));
    program_.card.files[name] = node.checked(
        [&] { return folder ? hash_of_folder(path, node) : hash_of_file(path, node); });
    program_.surroundings.readable.push_back(path.string());
    std::vector<std::string>& modules = program_.surroundings.modules;
    const std::string home = folder ? path.string() : path.parent_path().string();
    if (home.find(':') != std::string::npos) node.refuse("a path without a colon");
    if (folder || std::ranges::find(modules, home) == modules.end()) modules.push_back(home);
  }

  void read_settings(const TomlTable& t) {
    for (const auto& [name, node] : t.entries())
      program_.settings.push_back(setting_of(name, node));
  }

  static ProgramSetting setting_of(const std::string& name, const TomlNode& node) {
    const TomlTable t = node.table();
    t.allow({"default", "least", "most", "above", "below", "choices", "meaning"});
    ProgramSetting s{.name = name, .standard = {}};
    const nlohmann::json value = t.at("default").scalar();
    if (value.is_boolean())
      s.standard = value.get<bool>();
    else if (value.is_number_integer())
      s.standard = static_cast<Index>(value.get<std::int64_t>());
    else if (value.is_number())
      s.standard = value.get<double>();
    else
      s.standard = value.get<std::string>();
    if (t.has("meaning")) s.meaning = t.at("meaning").text();
    read_range(t, value, s);
    if (t.has("choices")) {
      if (!value.is_string())
        t.at("choices").refuse(
            "a text as default; a number is bounded by least or above, most or below");
      for (const TomlNode& choice : t.at("choices").array()) s.choices.push_back(choice.text());
      if (std::ranges::find(s.choices, value.get<std::string>()) == s.choices.end())
        t.at("default").refuse(fmt::format("one of {}", fmt::join(s.choices, ", ")));
    }
    return s;
  }

  static void read_range(const TomlTable& t, const nlohmann::json& value, ProgramSetting& s) {
    const auto end = [&](const char* closed, const char* open, double& bound, bool& with) {
      if (t.has(closed) && t.has(open))
        t.at(open).fail(fmt::format("{} and {}, expected one of them", closed, open));
      for (const char* name : {closed, open}) {
        if (!t.has(name)) continue;
        if (!value.is_number())
          t.at(name).refuse("a number as default; of a text, choices lists the values");
        bound = t.at(name).number();
        with = name == closed;
      }
    };
    end("least", "above", s.range.least, s.range.with_least);
    end("most", "below", s.range.most, s.range.with_most);
    if (value.is_number() && !s.range.contains(value.get<double>()))
      t.at("default").refuse("a number in the setting's own range");
  }

  /// Defaults decide numbers, and stand in no description.
  std::string hash_of_settings() const {
    std::string all;
    for (const ProgramSetting& s : program_.settings)
      all += std::visit([&](const auto& v) { return fmt::format("{} = {}\n", s.name, v); },
                        s.standard);
    return sha256(all);
  }

  fs::path folder_;
  TomlDocument document_;
  Program program_;
};

/// Cards that were read, by their paths, and the keys of their programs.
std::map<fs::path, std::string>& known_cards() {
  static std::map<fs::path, std::string> cards;
  return cards;
}

/// True if a file in TOML is the card of a program; sweeps and projects of Python may lie beside.
bool names_a_program(const fs::path& file) {
  return TomlDocument(read_file(file), file.string()).root().has("program");
}

}  // namespace

std::string register_program(const fs::path& card) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(card, error);
  if (const auto known = known_cards().find(path); known != known_cards().end())
    return known->second;
  if (const std::string why = why_unreadable(card); !why.empty())
    throw InputError(fmt::format("program: {} {}, expected a card in TOML", card.string(), why));
  const auto program = std::make_shared<const Program>(CardReader(card).read());
  const std::string key = program->card.key;
  try {
    register_algorithm({key, [program] { return make_program_algorithm(program); }});
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", card.string(), e.what()));
  }
  known_cards().emplace(path, key);
  return key;
}

void register_listed_programs() {
  const char* list = std::getenv("DPSOSP_PROGRAMS");
  if (list == nullptr) return;
  std::string_view rest(list);
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const fs::path path(rest.substr(0, colon));
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    if (path.empty()) continue;
    if (!fs::is_directory(path)) {
      register_program(path);
      continue;
    }
    std::set<fs::path> cards;
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.path().extension() == card_ending && names_a_program(entry.path()))
        cards.insert(entry.path());
    for (const fs::path& card : cards) register_program(card);
  }
}

std::vector<fs::path> cards_of(const std::set<std::string>& algorithms) {
  std::vector<fs::path> cards;
  for (const auto& [card, key] : known_cards())
    if (algorithms.contains(key)) cards.push_back(card);
  return cards;
}

void hide_runs_of(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"programs.secret", "store.sqlite", "store.sqlite-wal",
                           "store.sqlite-shm", "store.sqlite-journal", "checkpoints", "report"})
    hide_from_guests(folder / name);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const bool page = fs::exists(path / "timings.csv", error);
    const bool plans = fs::exists(path / "0001/plan.json", error);
    if (page || plans || path.filename().string().starts_with("shards-of-")) hide_from_guests(path);
  }
}

void hide_outputs(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(folder), error);
  const auto lies_there = [&](const auto& card) {
    const std::string within = fs::path(card.first).lexically_relative(real).string();
    return !within.empty() && !within.starts_with("..");
  };
  if (std::ranges::none_of(known_cards(), lies_there))
    hide_from_guests(real);
  else  // it holds what the program reads, too
    hide_runs_of(real);
}

void keep_to_owner() { ::umask(::umask(0) | (S_IRWXG | S_IRWXO)); }

void use_program_secret_of(const fs::path& folder, bool draw) {
  if (std::ranges::none_of(algorithm_registry(), [](const AlgorithmEntry& entry) {
        return entry.create()->card().is_program();
      }))
    return;
  const fs::path file = folder / "programs.secret";
  hide_outputs(folder);
  keep_to_owner();
  std::error_code error;
  if (!fs::exists(file, error)) {
    if (!draw) return;
    constexpr int bits = 60;
    SystemEntropy entropy;
    ensure_writable_folder(folder);
    write_private_file(file, fmt::format("{}\n", entropy.bits() >> (64 - bits)));
  }
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, error);
  constexpr std::int64_t least = std::int64_t{1} << 40;  // fewer bits than these can be guessed
  std::string text = read_file(file);
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  const auto secret = whole_number(text);
  if (!secret || *secret < least)  // which is not shown, whatever is wrong
    throw InputError(
        fmt::format("{}: not the secret that was drawn, expected one integer >= 2^40; copy the "
                    "file again, or remove it, and all runs of programs are computed anew",
                    file.string()));
  set_program_secret(static_cast<std::uint64_t>(*secret));
}

bool is_card(std::string_view word) { return word.ends_with(card_ending); }

std::string card_meant_by(std::string_view word) {
  const auto names = [&](std::string_view name) {
    return std::ranges::equal(word, name, [](unsigned char a, unsigned char b) {
      return std::tolower(a) == std::tolower(b);
    });
  };
  std::set<std::string> meant;
  std::error_code error;
  for (fs::directory_iterator entry(".", error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() != card_ending) continue;
    try {
      const TomlDocument document(read_file(path), path.string());
      const TomlTable t = document.root();
      if (!t.has("program") || !t.has("key")) continue;
      const std::string key = t.at("key").text();
      if (names(path.stem().string()) || names(key) || names(key.substr(key.find('/') + 1)))
        meant.insert(path.filename().string());
    } catch (const InputError&) {  // whatever it is, it is no card
    }
  }
  return meant.empty() ? std::string() : *meant.begin();
}

}  // namespace dpsosp
