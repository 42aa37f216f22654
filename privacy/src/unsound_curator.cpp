// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/unsound_curator.hpp"

namespace dpsosp {

UnsoundCurator::UnsoundCurator(const PublicFacts& facts,
                               const Records& records,
                               StreamKey key,
                               const Departures& departures,
                               ClipLog* clip_log)
    : Curator(facts, records, FilterRule{}, key, clip_log, [&] {
        Departures all = departures;
        all.no_filter = true;
        return all;
      }()) {}

}  // namespace dpsosp
