// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/problems/own_glm.hpp"

namespace dpsosp {

/// What a command says of the caller's own table, beside its result.
class OwnData {
 public:
  /// \param point  in R^d; without one, weights and accuracy are left out
  OwnData(std::shared_ptr<const OwnGlm> table, const InstanceSpec& instance,
          std::optional<Vector> point);

  /// Names, sizes, and the point by columns, all of which may be published with the point.
  nlohmann::json published() const;
  std::string published_text() const;
  /// The same and what is computed from the records without noise.
  nlohmann::json all() const;
  std::string seen_text() const;

 private:
  std::shared_ptr<const OwnGlm> table_;
  InstanceSpec instance_;
  std::optional<Vector> point_;
};

/// The table that the run is on; none for every problem but own-glm. \throws InputError
std::optional<OwnData> own_data_of(const RunSpec& spec,
                                   const std::optional<std::vector<double>>& point);
/// At a point as `certify` takes it: initial, origin, or a JSON array.
std::optional<OwnData> own_data_of(const RunSpec& spec, const std::string& point);

/// The array of a point's text that is the JSON of a run or a release.
/// \throws InputError if that was on columns of other names or order
std::string point_in(const std::string& text, const RunSpec& spec);

}  // namespace dpsosp
