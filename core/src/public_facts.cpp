// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/public_facts.hpp"

#include <utility>
#include <vector>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::proved:
      return "proved";
    case Origin::clipped:
      return "clipped";
    case Origin::estimated:
      break;
  }
  return "estimated";
}

std::string_view to_string(DualKind kind) {
  switch (kind) {
    case DualKind::shared:
      return "shared";
    case DualKind::per_record:
      return "per_record";
    case DualKind::none:
      break;
  }
  return "none";
}

void Constants::set(std::string_view name, Constant value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

bool Constants::contains(std::string_view name) const { return values_.contains(name); }

const Constant& Constants::at(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [key, value] : values_) names.push_back(key);
  reject_unknown("constant of the problem", name, names);
}

}  // namespace dpsosp
