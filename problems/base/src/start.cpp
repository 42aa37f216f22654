// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/start.hpp"

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void StartOption::add_fields(Fields& fields) {
  fields.push_back(field("start", kind,
                         "x0: of the source, a strict saddle, near it, far away, N(0, spread^2)"));
  fields.push_back(field("near_radius", near_radius, range::not_negative,
                         "distance from the saddle under start = near_saddle"));
}

Vector StartOption::pick(const PublicFacts& facts, const Starts& starts, Stream random) const {
  Vector point = starts.standard;
  const auto direction = [&] {
    Vector v(point.size());
    random.fill_normal(1.0, v);
    return v.normalized();
  };
  switch (kind) {
    case Kind::standard:
      break;
    case Kind::saddle:
    case Kind::near_saddle:
      if (!starts.saddle)
        reject(facts.name, "start", "saddle", "standard, far or random: no strict saddle is known");
      point = *starts.saddle;
      if (kind == Kind::near_saddle) point += near_radius * direction();
      break;
    case Kind::far:
      point = starts.far_radius * direction();
      break;
    case Kind::random:
      random.fill_normal(starts.random_spread, point);
      break;
  }
  facts.domain.project(point);
  return point;
}

}  // namespace dpsosp
