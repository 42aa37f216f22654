// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "replay/transcript.hpp"
#include "subjects/neighbour.hpp"

namespace dpsosp::audit {

/// A bug that an audit must find. It acts between the sound curator and the auditor, and the last
/// ones, of words, between the curator and the one who draws everything again.
enum class Plant {
  none,
  noise_over_1_25,          ///< all noise 1.25 times too small: what power is measured by
  noise_over_sqrt2,         ///< Gaussian noise of half the variance
  add_remove_sensitivity,   ///< noise for C/b where one record moves the mean by 2C/b
  batch_mean_clip,          ///< the mean of the batch is clipped, not each record
  difference_clip,          ///< gradient differences clipped at a constant beyond what was declared
  fresh_reused,             ///< every fresh batch is the first one
  poisson_fixed_size,       ///< Poisson is charged, b = qn records are drawn
  realised_divisor,         ///< Poisson sums divided by the realised size
  tree_noise_reused,        ///< nodes of one level share their noise
  last_leaf_bare,           ///< the node that a leaf completes has no noise
  hessian_product_bare,     ///< Hessian products without noise
  one_question_noise,       ///< AboveThreshold draws the noise of its questions once
  half_range,               ///< an exponential mechanism with half its range
  choice_bare,              ///< an exponential mechanism takes the best candidate
  choice_half_noise,        ///< and with half its temperature
  noise_averaged,           ///< noise that is a mean of two draws, the later of which comes again
  question_half_noise,      ///< AboveThreshold with half the noise of its questions
  samples_cut_up,           ///< fixed-size samples are the pieces of one shuffled list
  unreleased_stop,          ///< the run stops by the norm of what was not released
  uniform_noise,            ///< uniform noise of the same variance
  question_uniform_noise,   ///< the same in AboveThreshold's questions
  noise_clamped_4,          ///< Gaussian noise clamped at 4 deviations
  noise_clamped_2_6,        ///< and at 2.6
  noise_cut_4,              ///< drawn again where it is beyond 4 deviations
  student_noise,            ///< Student's t of 5 degrees of freedom, of the same variance
  one_percent_zeros,        ///< 1 % of all numbers have no noise
  noise_on_sphere,          ///< noise vectors all of the expected length
  noise_of_algorithm,       ///< noise drawn from the algorithm's own stream
  noise_of_seed,            ///< the same noise in every run
  combination_by_larger,    ///< gradient combinations charged by the larger part
  hessian_mean_clip,        ///< the mean Hessian is clipped, not each record's
  tree_noise_again,         ///< a tree's noise comes again after a restart
  antithetic_coins,         ///< every other Poisson batch has the coins 1 − u of the last one
  line_search_half_charge,  ///< a line search is charged without its factor 2
  filter_by_add_remove,     ///< the filter charges zCDP of half the sensitivity
  last_charge_cut,          ///< the filter grants one charge that is more than what remains
  choice_of_noise,          ///< choices by the words of noise
  choice_of_algorithm,      ///< choices by the words of the algorithm's own stream
  choice_of_16_bits,        ///< choices by 16 bits of the seed
  choice_again,             ///< every second choice by the words of the last one
  child_of_parent,          ///< every child has its parent's streams from their beginning
  gibbs_on_copy,            ///< Gibbs draws leave the stream of noise where it was
  batch_of_noise,           ///< secret batches by the words of noise
  batch_of_algorithm,       ///< secret batches by the words of the algorithm's own stream
  batch_again,              ///< every second secret batch is the last one
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
  /// \param seed  of the run, for bugs that draw \param algorithm  its own stream
  Planted(Plant bug, Auditor& auditor, const Neighbour& records, std::uint64_t seed,
          Stream algorithm);
  ~Planted();
  const AnyRecords& records() const;
  Auditor& auditor();
  /// What stands between the curator and the one who draws everything again. \param key  of the run
  Auditor& before(Auditor& redraw, StreamKey key);
  /// What the filter keeps instead of the given rule.
  FilterRule rule(FilterRule rule) const;

 private:
  struct Shared;
  class Door;
  class Data;
  bool of_words() const { return bug_ >= Plant::choice_of_noise; }
  Plant bug_;
  Auditor& auditor_;
  const Neighbour& records_;
  std::unique_ptr<Data> data_;
  std::unique_ptr<Door> door_;
  std::unique_ptr<Auditor> wrong_words_;
};

}  // namespace dpsosp::audit
