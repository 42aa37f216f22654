// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace dpsosp {

/// The program that computed a run. Two equal builds give a run the same bits; nothing is promised
/// between different ones.
struct Build {
  std::string program_version;
  std::string binary;           ///< SHA-256 of the executable file; empty where it cannot be read
  std::string compiler;         ///< name and version
  std::string flags;            ///< the options that can move a number
  std::string instruction_set;  ///< what the binary was built for, not what the CPU offers

  bool operator==(const Build&) const = default;
};

/// Where a run's numbers come from. Names no host, user or path, and never decides a number.
struct Provenance {
  Build build;
  std::string cpu;              ///< model name; "unknown" where the system does not tell
  std::string numbers_version;  ///< JSON text of the description's numbers_version; may be empty
  std::string seed;             ///< JSON text of the description's seed; may be empty
  std::string started;          ///< UTC, 2026-01-31T23:59:59Z
  double wall_seconds = 0;
  double cpu_seconds = 0;  ///< of the thread that led the run
};

/// The running program on this machine; the fields of a run are left empty.
/// Files of the system are read at the first call.
Provenance provenance();

/// CPU seconds that the calling thread has used.
double thread_cpu_seconds();

/// "2026-01-31T23:59:59Z"
std::string utc_now();

/// One line for people: "0.1.0, GCC 12.2.0, x86-64 avx2 fma, -O3, binary 0123456789ab".
std::string to_string(const Build& build);

/// One flat object; nlohmann::json(provenance) calls it.
void to_json(nlohmann::json& out, const Provenance& provenance);

}  // namespace dpsosp
