// SPDX-License-Identifier: Apache-2.0
#include "stored_text.hpp"

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/sha256.hpp"

namespace dpsosp {

using nlohmann::json;

std::string result_text(const json& result) {
  return with_json_numbers(result).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string relabelled(std::string_view description, std::string_view result) {
  constexpr std::string_view before = R"("label":"enforced")", now = R"("label":"simulated")";
  std::string text(result);
  const auto at = text.find(before);
  if (at == std::string::npos) return text;
  const json described = json::parse(description, nullptr, false);
  const auto settings = described.find("problem_settings");
  if (settings == described.end()) return text;
  for (const char* name : {"sampling", "simulate"})  // the latter of generalised linear models
    if (const auto s = settings->find(name);
        s != settings->end() && (*s == "whole" || *s == "stream"))
      return text.replace(at, before.size(), now);
  return text;
}

std::string outcome_digest(std::string_view key, std::string_view status, std::string_view reason,
                           std::string_view result) {
  return sha256(fmt::format("{}\n{}\n{}\n{}", key, status, reason, result));
}

std::string provenance_digest(std::string_view key, const Provenance& p) {
  return sha256(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", key,
                            p.build.program_version, p.build.binary, p.build.compiler,
                            p.build.flags, p.build.instruction_set, p.cpu, p.numbers_version,
                            p.seed, p.started, p.wall_seconds, p.cpu_seconds));
}

void refuse_contradiction(const std::string& hash, const Ending& one, const Ending& other) {
  throw InputError(fmt::format(
      "merge: run {} is {} in {} and {} in {}, with different outcomes; {}", hash,
      to_string(one.status), one.file.string(), to_string(other.status), other.file.string(),
      one.build == other.build
          ? "one build computed both, so the run is not a function of its description"
          : fmt::format("different builds computed them ({} | {}): use one", to_string(one.build),
                        to_string(other.build))));
}

}  // namespace dpsosp
