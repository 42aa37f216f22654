// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/check_constants.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void check_constants(std::string_view problem, const Constants& constants) {
  for (const auto& [name, c] : constants.all()) {
    const bool positive = c.value > 0 || (c.value == 0 && name == constant::suboptimality);
    if (c.origin == Origin::proved && !(positive && std::isfinite(c.value)))
      reject(problem,
             name,
             c.value,
             "> 0 and finite; settings leave double precision, or a constant that is zero is not "
             "left out");
  }
}

}  // namespace dpsosp
