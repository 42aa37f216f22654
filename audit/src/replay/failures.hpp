// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "dpsosp/trusted/records.hpp"
#include "subjects/subject.hpp"

namespace dpsosp::audit {

/// Makes the curator that a run asks; tests give one with something wrong.
using MakeCurator =
    std::function<std::unique_ptr<Curator>(const Subject&, const AnyRecords&, std::uint64_t seed)>;
std::unique_ptr<Curator> curator_of(const Subject& subject, const AnyRecords& records,
                                    std::uint64_t seed);

/// Whether what was charged when a record throws stays charged. The audit's mechanism runs until
/// the exchanged record is asked for the k-th time, for up to `most` k, and once more with a record
/// that throws then: ledger and budget are those of that moment. Empty if so.
std::string complaint_of_failures(std::string_view mechanism, std::uint64_t seed, int most,
                                  const MakeCurator& make = curator_of);

}  // namespace dpsosp::audit
