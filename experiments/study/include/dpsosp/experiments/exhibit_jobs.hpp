// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/store.hpp"

namespace dpsosp {

/// The runs that `reproduce` would compute or take, each once: with the further seeds that stored
/// runs ask for, as far as all runs before are stored.
/// \param store  null for none
/// \throws InputError for an unknown exhibit, and for runs that this program has no code for
std::vector<Job> jobs_to_reproduce(const Catalogue& catalogue, const ReproduceOptions& options,
                                   const Store* store);

}  // namespace dpsosp
