// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/run_costs.hpp"

#include <cmath>
#include <set>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/run_json.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

std::string key_of_kind(const RunDescription& run) { return run.algorithm + " on " + run.problem; }

/// 1, log n, log d, log ε.
using Size = Eigen::Vector4d;
Size size_of(const RunDescription& run) {
  return {1.0, std::log(static_cast<double>(run.records)),
          std::log(static_cast<double>(run.dimension.value_or(1))), std::log(run.epsilon)};
}

/// None where a stored description is that of no run.
std::optional<RunDescription> described_run(const json& description) {
  try {
    return description.get<RunDescription>();
  } catch (const json::exception&) {
  } catch (const InputError&) {
  }
  return {};
}

/// log seconds by least squares of least norm, so that an axis along which nothing was seen counts
/// for nothing.
Size time_law(const std::vector<std::pair<Size, double>>& seen) {
  Matrix a(std::ssize(seen), 4);
  Vector b(std::ssize(seen));
  for (Index k = 0; k < a.rows(); ++k) {
    a.row(k) = seen[static_cast<std::size_t>(k)].first.transpose();
    b[k] = seen[static_cast<std::size_t>(k)].second;
  }
  const Eigen::RowVector4d mean = a.colwise().mean();
  const Matrix centred = a.rowwise() - mean;
  const Vector law = least_squares(centred, b.array() - b.mean());
  Size full = law;
  full[0] = b.mean() - mean.tail<3>().dot(law.tail<3>());
  return full;
}

/// Common part of the runs of one cell: all but their seeds.
std::string cell_of(json description) {
  description.erase("seed");
  description.erase("data_seed");
  return description.dump();
}

}  // namespace

struct RunCosts::Law {
  std::vector<std::pair<Size, double>> seen;
  std::optional<Size> fitted;
};

RunCosts::RunCosts() = default;
RunCosts::~RunCosts() = default;
RunCosts::RunCosts(RunCosts&&) noexcept = default;

RunCosts::RunCosts(const Store& store) {
  store.each([&](const StoredRun& run, const Provenance& p) {
    add(run.key.description(), p.cpu_seconds);
  });
}

void RunCosts::add(const json& description, double cpu_seconds) {
  Mean& mean = cells_[cell_of(description)];
  mean.seconds += cpu_seconds;
  ++mean.runs;
  const auto known = described_run(description);
  if (!known || !(cpu_seconds > 0) || !size_of(*known).allFinite()) return;
  Law& law = laws_[key_of_kind(*known)];
  law.seen.emplace_back(size_of(*known), std::log(cpu_seconds));
  law.fitted.reset();
}

std::optional<double> RunCosts::seconds(const Job& job) const {
  const auto cell = cells_.find(cell_of(job.description()));
  if (cell != cells_.end()) return cell->second.seconds / static_cast<double>(cell->second.runs);
  return seconds_by_law(job);
}

std::optional<double> RunCosts::seconds_by_law(const Job& job) const {
  if (job.run() == nullptr) return {};
  const auto law = laws_.find(key_of_kind(*job.run()));
  if (law == laws_.end()) return {};
  if (!law->second.fitted) law->second.fitted = time_law(law->second.seen);
  return std::exp(law->second.fitted->dot(size_of(*job.run())));
}

TimeEstimate estimate_time(const std::vector<Job>& jobs, const std::filesystem::path& file) {
  TimeEstimate estimate;
  RunCosts costs;
  std::set<std::string> stored;
  if (std::filesystem::exists(file))
    Store(file, Store::Access::read_only).each([&](const StoredRun& run, const Provenance& p) {
      stored.insert(run.key.hash());
      costs.add(run.key.description(), p.cpu_seconds);
    });
  for (const Job& job : jobs) {
    if (stored.contains(job.hash())) {
      ++estimate.stored;
      continue;
    }
    if (const auto seconds = costs.seconds_by_law(job))
      estimate.seconds += *seconds;
    else
      ++estimate.unknown;
  }
  return estimate;
}

}  // namespace dpsosp
