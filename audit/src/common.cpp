// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include "replay/accounts.hpp"
#include "replay/failures.hpp"
#include "replay/returned.hpp"
#include "replay/sources.hpp"
#include "subjects/mechanisms.hpp"

namespace dpsosp::audit {
namespace {

std::string failures_of_all(std::uint32_t seed, Effort effort) {
  for (const std::string& key : mechanism_keys()) {
    if (asks_release(key)) continue;
    const int most = effort == Effort::little ? 2 : 12;
    if (std::string complaint = complaint_of_failures(key, seed, most); !complaint.empty())
      return complaint;
  }
  return {};
}

}  // namespace

const std::vector<CommonCheck>& common_checks() {
  static const std::vector<CommonCheck> all{
      {"accountants", "no accountant's epsilon is exceeded by drawn privacy losses",
       [](std::uint32_t seed, Effort effort) {
         return complaint_of_accountants(
             seed, {.compositions = effort == Effort::little ? 2 : 21, .draws = 20'000});
       }},
      {"filters", "what a filter grants costs no more than its budget",
       [](std::uint32_t seed, Effort effort) {
         return complaint_of_filters(
             seed, {.compositions = effort == Effort::little ? 20 : 200, .draws = 10'000});
       }},
      {"failures", "charges stay where a record throws", failures_of_all},
      {"keys", "runs whose keys differ in one bit have nothing in common",
       [](std::uint32_t, Effort) { return complaint_of_keys(); }},
      {"entropy", "no two sources of system entropy have a word in common, and none repeats itself",
       [](std::uint32_t, Effort effort) {
         const std::int64_t sources = effort == Effort::little ? 1 << 12 : 1 << 16;
         return complaint_of_entropy(sources, 4 * sources);
       }},
      {"discrete-noise", "signs and low bits of discrete noise are fair coins",
       [](std::uint32_t seed, Effort effort) {
         return complaint_of_discrete_noise(seed, effort == Effort::little ? 4000 : 100'000);
       }},
      {"releases", "two releases of one run have other noise",
       [](std::uint32_t, Effort) {
         return complaint_of_release(
             [](const RunDescription& run) { return compute_release(run); });
       }},
      {"published", "releases of other records say the same but for the point",
       [](std::uint32_t, Effort) {
         return complaint_of_published(
             [](const RunDescription& run) { return compute_release(run); });
       }}};
  return all;
}

}  // namespace dpsosp::audit
