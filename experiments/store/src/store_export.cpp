// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "dpsosp/core/csv.hpp"
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

/// Column name -> cell of every scalar and array below `value`.
void flatten(const json& value,
             const json::json_pointer& place,
             std::map<std::string, std::string>& cells) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [name, child] : value.items()) flatten(child, place / name, cells);
  } else if (!value.is_null()) {
    cells[place.to_string().substr(1)] =
        value.is_string() ? value.get<std::string>() : exported_text(value);
  }
}

std::map<std::string, std::string> cells_of(const StoredRun& run,
                                            const Provenance& p,
                                            Detail detail) {
  std::map<std::string, std::string> cells;
  flatten(exported(run, p, detail), json::json_pointer(), cells);
  return cells;
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

void Store::export_csv(std::ostream& out, Detail detail) const {
  std::set<std::string> columns;
  each([&](const StoredRun& run, const Provenance& provenance) {
    for (const auto& [name, text] : cells_of(run, provenance, detail)) columns.insert(name);
  });
  const auto write_row = [&](const auto& cell) {
    const char* separator = "";
    for (const std::string& name : columns) {
      out << separator << csv_field(cell(name));
      separator = ",";
    }
    out << "\r\n";
  };
  write_row([](const std::string& name) { return name; });
  each([&](const StoredRun& run, const Provenance& provenance) {
    const auto cells = cells_of(run, provenance, detail);
    write_row([&](const std::string& name) {
      const auto found = cells.find(name);
      return found == cells.end() ? std::string() : found->second;
    });
  });
}

}  // namespace dpsosp
