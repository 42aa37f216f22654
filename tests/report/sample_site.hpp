// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/report/site.hpp"

namespace dpsosp::report {

/// A report with a page of each kind and invented numbers, in which every member of the models of
/// claims, exhibits and algorithms is set.
Site sample_site();

Rate sample_rate(const std::string& axis, double claimed, double value);

}  // namespace dpsosp::report
