// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/report/contents.hpp"

namespace dpsosp::report {

StoredResults results_of(const Store& store);

/// What differs between reports of several stores. \param all  at least two, in the readers' order
TextPage moved_page(const std::vector<const Compared*>& all);

}  // namespace dpsosp::report
