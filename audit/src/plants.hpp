// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neighbour.hpp"
#include "transcript.hpp"

namespace dpsosp::audit {

/// A bug that an audit must find. It acts between the sound curator and the auditor.
enum class Plant {
  none,
  noise_over_1_25,         ///< all noise 1.25 times too small: what power is measured by
  noise_over_sqrt2,        ///< Gaussian noise of half the variance
  add_remove_sensitivity,  ///< noise for C/b where one record moves the mean by 2C/b
  batch_mean_clip,         ///< the mean of the batch is clipped, not each record
  difference_clip,         ///< gradient differences clipped at a constant beyond what was declared
  fresh_reused,            ///< every fresh batch is the first one
  poisson_fixed_size,      ///< Poisson is charged, b = qn records are drawn
  realised_divisor,        ///< Poisson sums divided by the realised size
  tree_noise_reused,       ///< nodes of one level share their noise
  last_leaf_bare,          ///< the node that a leaf completes has no noise
  hessian_product_bare,    ///< Hessian products without noise
  one_question_noise,      ///< AboveThreshold draws the noise of its questions once
  half_range,              ///< an exponential mechanism with half its range
  choice_bare,             ///< an exponential mechanism takes the best candidate
  choice_half_noise,       ///< and with half its temperature
  noise_averaged,          ///< noise that is a mean of two draws, the later of which comes again
  question_half_noise,     ///< AboveThreshold with half the noise of its questions
  samples_cut_up,          ///< fixed-size samples are the pieces of one shuffled list
  unreleased_stop,         ///< the run stops by the norm of what was not released
};

struct PlantEntry {
  Plant plant;
  std::string_view name;  ///< "noise-over-sqrt2", of --plant
  std::string_view wrong;
  std::string_view host;  ///< key of an algorithm that the bug shows in
};
/// The negative controls, one line each; without `none` and `noise_over_1_25`.
const std::vector<PlantEntry>& plant_registry();
/// \throws InputError for an unknown name
const PlantEntry& find_plant(std::string_view name);

/// Records and auditor, with the bug between them and the curator.
class Planted {
 public:
  /// \param seed  of the run, for bugs that draw
  Planted(Plant bug, Auditor& auditor, const Neighbour& records, std::uint64_t seed);
  ~Planted();
  const Records& records() const;
  Auditor& auditor();

 private:
  struct Shared;
  class Door;
  class Data;
  Auditor& auditor_;
  const Neighbour& records_;
  std::unique_ptr<Data> data_;
  std::unique_ptr<Door> door_;
};

}  // namespace dpsosp::audit
