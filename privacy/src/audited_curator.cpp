// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/audited_curator.hpp"

#include "curator_state.hpp"

namespace dpsosp {

AuditedCurator::AuditedCurator(const PublicFacts& facts,
                               const Records& records,
                               const FilterRule& rule,
                               StreamKey key,
                               Auditor& auditor,
                               ClipLog& log)
    : Curator(facts, records, rule, key, &log, Departures{}, &auditor) {}

}  // namespace dpsosp
