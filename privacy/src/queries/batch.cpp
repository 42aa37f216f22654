// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/batch.hpp"

namespace dpsosp {

double BatchPolicy::divisor(Index records) const {
  switch (kind) {
    case Kind::all:
      return static_cast<double>(records);
    case Kind::poisson:
      return rate * static_cast<double>(records);
    case Kind::fresh:
    case Kind::sample:
      break;
  }
  return static_cast<double>(size);
}

}  // namespace dpsosp
