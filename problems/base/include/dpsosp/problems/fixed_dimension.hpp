// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

/// d, which the settings or the data give. \throws InputError if the spec has another
/// \param expected  says what d is and how to set it
inline Index check_fixed_dimension(std::string_view problem, const InstanceSpec& spec, Index d,
                                   std::string_view expected) {
  if (spec.dimension && *spec.dimension != d)
    reject(problem, "dimension", static_cast<double>(*spec.dimension), expected);
  return d;
}

}  // namespace dpsosp
