// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/provenance.hpp"

#include <ctime>
#include <fstream>
#include <sstream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "dpsosp/experiments/sha256.hpp"

namespace dpsosp {
namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

std::string instruction_set() {
#if defined(__x86_64__)
  std::string name = "x86-64";
#elif defined(__aarch64__)
  std::string name = "aarch64";
#else
  std::string name = "other";
#endif
#ifdef __SSE4_2__
  name += " sse4.2";
#endif
#ifdef __AVX__
  name += " avx";
#endif
#ifdef __AVX2__
  name += " avx2";
#endif
#ifdef __FMA__
  name += " fma";
#endif
#ifdef __AVX512F__
  name += " avx512f";
#endif
  return name;
}

std::string binary() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return file ? sha256(bytes.view()) : "";
}

std::string cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

Provenance provenance() {
  static const Provenance running{.build = {.program_version = DPSOSP_VERSION,
                                            .binary = binary(),
                                            .compiler = compiler(),
                                            .flags = DPSOSP_FLAGS,
                                            .instruction_set = instruction_set()},
                                  .cpu = cpu(),
                                  .numbers_version = "",
                                  .seed = "",
                                  .started = ""};
  return running;
}

double thread_cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string to_string(const Build& build) {
  return fmt::format("{}, {}, {}, {}, binary {}", build.program_version, build.compiler,
                     build.instruction_set, build.flags, build.binary.substr(0, 12));
}

void to_json(nlohmann::json& out, const Provenance& p) {
  out = {{"program_version", p.build.program_version},
         {"binary", p.build.binary},
         {"compiler", p.build.compiler},
         {"flags", p.build.flags},
         {"instruction_set", p.build.instruction_set},
         {"cpu", p.cpu},
         {"numbers_version", p.numbers_version},
         {"seed", p.seed},
         {"started", p.started},
         {"wall_seconds", p.wall_seconds},
         {"cpu_seconds", p.cpu_seconds}};
}

}  // namespace dpsosp
