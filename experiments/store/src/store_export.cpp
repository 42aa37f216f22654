// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/store.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

std::string exported_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json exported(const StoredRun& run, const Provenance& provenance, Detail detail) {
  json out = {{"key", run.key.hash()},
              {"description", run.key.description()},
              {"status", to_string(run.status)},
              {"reason", run.reason},
              {"result", run.result}};
  if (detail == Detail::results_and_provenance) out["provenance"] = provenance;
  return out;
}

}  // namespace

void Store::export_json(std::ostream& out, Detail detail) const {
  out << R"({"application":"dpsosp","schema":1,"runs":[)";
  const char* separator = "\n";
  each([&](const StoredRun& run, const Provenance& provenance) {
    out << separator << exported_text(exported(run, provenance, detail));
    separator = ",\n";
  });
  out << "\n]}\n";
}

}  // namespace dpsosp
