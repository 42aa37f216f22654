// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/spider_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp {

BatchPolicy batch_policy(Sampling sampling, Index size, Index records) {
  switch (sampling) {
    case Sampling::all:
      return BatchPolicy::all();
    case Sampling::fresh:
      return BatchPolicy::fresh(size);
    case Sampling::sample:
      return BatchPolicy::sample(size);
    case Sampling::poisson:
      break;
  }
  return BatchPolicy::poisson(static_cast<double>(size) / static_cast<double>(records));
}

void require_batch(std::string_view owner, std::string_view name, Sampling sampling, Index size,
                   Index records) {
  if (sampling != Sampling::all && !(size >= 1 && size <= records))
    reject(owner, name, static_cast<double>(size),
           fmt::format("in [1, records] with records = {}", records));
}

Index adaptive_batch(double rate, double move) {
  return static_cast<Index>(std::min(1e18, std::max(1.0, std::ceil(rate * move))));
}

Field sampling_field(Sampling& value) { return field("sampling", value, "how batches are drawn"); }

Field noise_field(std::string name, double& value, const std::string& meaning) {
  return field(std::move(name), value, range::not_negative,
               meaning + "; 0 = no noise, unsound curator only");
}

void SpiderOracleParameters::add_fields(Fields& fields) {
  using namespace range;
  fields.push_back(sampling_field(sampling));
  fields.push_back(field("refresh_batch", refresh_batch, not_negative, "S1: records in a refresh"));
  fields.push_back(
      field("increment_batch", increment_batch, not_negative, "S2: records in an increment"));
  fields.push_back(
      field("clip_refresh", clip_refresh, positive, "C_v: per-record clip of gradients"));
  fields.push_back(
      field("increment_clip", increment_clip,
            "clip differences at C_u, at C_u times the move, or that and at most 2 C_v"));
  fields.push_back(
      field("clip_increment", clip_increment, positive, "C_u: per-record clip of differences"));
  fields.push_back(
      noise_field("refresh_noise", refresh_noise, "z1: std / sensitivity of refreshes"));
  fields.push_back(
      noise_field("increment_noise", increment_noise, "z2: std / sensitivity of increments"));
}

void SpiderOracleParameters::check(std::string_view owner, Index records) const {
  require_batch(owner, "refresh_batch", sampling, refresh_batch, records);
  require_batch(owner, "increment_batch", sampling, increment_batch, records);
}

BatchPolicy SpiderOracleParameters::refresh_policy(Index records) const {
  return batch_policy(sampling, refresh_batch, records);
}

BatchPolicy SpiderOracleParameters::increment_policy(Index records) const {
  return batch_policy(sampling, increment_batch, records);
}

BatchPolicy SpiderOracleParameters::dearest_policy(Index records) const {
  return batch_policy(sampling, std::max(refresh_batch, increment_batch), records);
}

double SpiderOracleParameters::increment_limit(const Point& point, const Point& previous) const {
  if (increment_clip == IncrementClip::fixed) return clip_increment;
  const double limit = clip_increment * point.distance(previous);
  return increment_clip == IncrementClip::capped ? std::min(limit, 2.0 * clip_refresh) : limit;
}

void SpiderOracleParameters::refresh(Curator& curator, const Point& point, Block block,
                                     VectorRef out) const {
  const Batch batch = curator.draw(refresh_policy(curator.facts().records));
  curator.gradient(
      point, batch,
      {.limit = clip_refresh, .noise = Noise::sensitivity_ratio(refresh_noise), .block = block},
      out);
}

void SpiderOracleParameters::increment(Curator& curator, const Point& point, const Point& previous,
                                       Block block, VectorRef out) const {
  const Batch batch = curator.draw(increment_policy(curator.facts().records));
  curator.gradient_difference(point, previous, batch,
                              {.limit = increment_limit(point, previous),
                               .noise = Noise::sensitivity_ratio(increment_noise),
                               .block = block},
                              out);
}

}  // namespace dpsosp
