// SPDX-License-Identifier: Apache-2.0
// A store that is sound to SQLite, where every result is the input; then a run whose description
// is.
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run_costs.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view toml = R"(title = "t"
seeds = 2
[[arm]]
name = "a"
algorithm = "arora-2023/dp-spider"
problem = "ripple-location"
settings = { steps = 3 }
[[part]]
name = "p"
axes = [{ records = [1000, 2000, 4000] }]
fit = [{ axis = "records", metric = "output.sosp_level" },
       { axis = "records", metric = "population.output.excess_risk" },
       { axis = "records", metric = "trace.mean_gradient_norm" },
       { axis = "records", metric = "trace.mean_excess_risk" },
       { axis = "records", metric = "trace.median_sosp_level" },
       { axis = "records", metric = "trace.fraction_solved" },
       { axis = "records", metric = "best.sosp_level" },
       { axis = "records", metric = "parameters.batch" }])";

/// A sweep, and the file of its store in a folder that goes with it.
struct Stored {
  fs::path folder = fs::temp_directory_path() / ("dpsosp-fuzz-result-" + std::to_string(getpid()));
  fs::path file = folder / "s.sqlite";
  Sweep sweep = parse_sweep(toml, "sweep", Scale::quick);
  std::vector<Job> jobs = jobs_of(sweep);

  Stored() = default;
  ~Stored() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;

  void change(const char* statement, const std::string& value) const {
    SQLite::Database db(file, SQLite::OPEN_READWRITE);
    SQLite::Statement change(db, statement);
    change.bind(1, value);
    change.exec();
  }
  void read() const {
    const Store store(file, Store::Access::read_only);
    std::ostringstream out;
    store.export_json(out, Detail::results_and_provenance);
    estimate_time(jobs, file);
  }
  void read_sweep() const {
    const auto runs = stored_runs(Store(file, Store::Access::read_only), jobs, "sweep");
    const Runs lookup(runs);
    plots::to_csv(slopes_table(slopes_of(lookup, sweep), "slopes", sweep.title));
    for (const Part& part : sweep.parts) plots::to_csv(cells_table(lookup, sweep, part, "cells"));
    check(slopes_figure(lookup, sweep, "figure", sweep.title));
    timings_csv(Store(file, Store::Access::read_only), sweep);
  }
};

void refused_in_one_line(const auto& action) {
  try {
    action();
  } catch (const InputError& e) {
    check_refusal(e.what());
  }
}

}  // namespace

void read(std::string_view input) {
  static const Stored stored;
  const std::string text(input);
  const auto value = nlohmann::json::parse(text, nullptr, false);
  const nlohmann::json result = value.is_discarded() ? nlohmann::json(0) : value;
  Store store(stored.file);
  stored.change("DELETE FROM runs WHERE key <> ?", "");
  for (const Job& job : stored.jobs) store.put({.key = job.key(), .result = result}, Provenance{});
  refused_in_one_line([&] { stored.read(); });
  refused_in_one_line([&] { stored.read_sweep(); });

  refused_in_one_line([&] {
    store.put({.key = RunKey(value), .result = 0}, Provenance{.wall_seconds = 1});
    stored.read();
  });
  stored.change("UPDATE runs SET description = ?", text);
  refused_in_one_line([&] { stored.read(); });
}

std::vector<std::string> seeds() {
  return {R"({"algorithm":"a","problem":"b","records":10,"epsilon":1,"problem_settings":{}})",
          R"({"output":{"sosp_level":0.5,"value":1},"start":{"sosp_level":4,"gradient_norm":2},)"
          R"("best":[0,1,2,3,0.25],"trace":[[0,1,2,0,3],[1,0.5,1,0,"inf"]],"minimum":0,)"
          R"("population":{"output":{"value":1.5},"minimum":"nan"},"schedule":{"alpha":0.5},)"
          R"("algorithm":{"parameters":{"batch":"12"},"steps":3}})",
          nlohmann::json(RunResult()).dump(),
          "null",
          R"({"algorithm":{},"problem":"b","records":10,"epsilon":1})",
          R"({"privacy":{"label":[]},"output":{"sosp_level":1},"start":{"sosp_level":9}})",
          R"({"trace":[1,{}],"best":"x","schedule":[]})",
          "[[[1]]]"};
}

}  // namespace dpsosp::fuzz
