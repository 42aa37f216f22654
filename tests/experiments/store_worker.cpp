// SPDX-License-Identifier: Apache-2.0
// store_worker STORE JOBS THREADS MILLISECONDS LOG: small jobs to be killed in the middle. Every
// job writes one byte to LOG when its computation starts. Exit status 130 after Ctrl-C.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/runner.hpp"

int main(int argc, char** argv) {
  using namespace dpsosp;
  using nlohmann::json;
  if (argc != 6) return 2;
  const int jobs = std::atoi(argv[2]);
  const int threads = std::atoi(argv[3]);
  const std::chrono::milliseconds pause(std::atoi(argv[4]));
  const int log = open(argv[5], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) return 2;

  const auto compute = [&](const Job& job) -> json {
    if (write(log, ".", 1) != 1) std::abort();
    std::this_thread::sleep_for(pause);
    const std::uint64_t seed = job.description().at("seed");
    if (seed % 17 == 3) throw RunFailed("planned failure");
    Stream stream({.seed = seed, .purpose = Purpose::test});
    json trace = json::array();
    for (int k = 0; k < 20; ++k) trace.push_back(stream.normal());
    if (seed % 5 == 0) trace.push_back(std::numeric_limits<double>::quiet_NaN());
    return {{"trace", trace}};
  };
  try {
    Store store(argv[1]);
    std::vector<Job> all;
    for (int k = 0; k < jobs; ++k) all.emplace_back(json{{"seed", k}});
    run_jobs(store, all, compute, {.threads = threads});
  } catch (const Interrupted& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 130;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
