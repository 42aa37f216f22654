// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "../core/scratch_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/store.hpp"

namespace dpsosp {

using TemporaryFolder = ScratchFolder;

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string exported_json(const Store& store, Detail detail = Detail::results) {
  std::ostringstream out;
  store.export_json(out, detail);
  return out.str();
}

inline StoredRun finished_run(const nlohmann::json& description, const nlohmann::json& result) {
  return {
      .key = RunKey(description), .status = RunStatus::finished, .reason = "", .result = result};
}

inline StoredRun failed_run(const nlohmann::json& description, const std::string& reason) {
  return {
      .key = RunKey(description), .status = RunStatus::failed, .reason = reason, .result = nullptr};
}

/// The line of the InputError that `action` throws; empty if it throws none.
std::string refusal_of(const auto& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace dpsosp
