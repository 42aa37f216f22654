// SPDX-License-Identifier: Apache-2.0
// A store with any bytes changed, and the descriptions and results in it.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "dpsosp/experiments/store.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {
namespace {

namespace fs = std::filesystem;

std::string small_store() {
  const fs::path file =
      fs::temp_directory_path() / ("dpsosp-fuzz-seed-" + std::to_string(getpid()));
  {
    Store store(file);
    for (int seed = 0; seed < 3; ++seed)
      store.put({.key = RunKey({{"algorithm", "a"}, {"seed", seed}}),
                 .status = seed == 2 ? RunStatus::failed : RunStatus::finished,
                 .reason = seed == 2 ? "not_finite: at step 3" : "",
                 .result = seed == 2 ? nlohmann::json() : nlohmann::json{{"value", 0.5 * seed}}},
                Provenance{});
  }
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (const char* rest : {"", "-wal", "-shm"}) fs::remove(file.string() + rest);
  return bytes;
}

}  // namespace

void read(std::string_view input) {
  read_file_with(input, [](const char* path) {
    const Store store(path, Store::Access::read_only);
    store.each([](const StoredRun&, const Provenance&) {});
  });
  read_file_with(input, [](const char* path) {
    const Store store(path);
    std::ostringstream out;
    store.export_json(out, Detail::results_and_provenance);
  });
}

std::vector<std::string> seeds() { return {small_store()}; }

}  // namespace dpsosp::fuzz
