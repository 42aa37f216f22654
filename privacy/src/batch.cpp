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

std::string_view to_string(BatchPolicy::Kind kind) {
  switch (kind) {
    case BatchPolicy::Kind::all:
      return "all";
    case BatchPolicy::Kind::fresh:
      return "fresh";
    case BatchPolicy::Kind::sample:
      return "sample";
    case BatchPolicy::Kind::poisson:
      break;
  }
  return "poisson";
}

}  // namespace dpsosp
