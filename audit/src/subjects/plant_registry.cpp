// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/errors.hpp"
#include "subjects/plants.hpp"

namespace dpsosp::audit {

const std::vector<PlantEntry>& plant_registry() {
  static const std::vector<PlantEntry> all{
      {Plant::noise_over_sqrt2, "noise-over-sqrt2", "Gaussian noise of half the variance",
       "wang-ye-xu-2017/dp-gd"},
      {Plant::add_remove_sensitivity, "add-remove-sensitivity",
       "noise for C/b, where exchanging a record moves the mean by 2C/b", "wang-ye-xu-2017/dp-gd"},
      {Plant::batch_mean_clip, "batch-mean-clip", "the mean is clipped instead of each record",
       "wang-ye-xu-2017/dp-gd"},
      {Plant::difference_clip, "difference-clip",
       "gradient differences clipped at the constant 2C instead of the declared M|x - y|",
       "tran-cutkosky-2022/momentum-aggregation"},
      {Plant::fresh_reused, "fresh-reused", "every fresh batch is the first one again",
       "zhou-2020/dp-sgd"},
      {Plant::poisson_fixed_size, "poisson-fixed-size",
       "Poisson sampling is charged, qn records are drawn", "abadi-2016/dp-sgd"},
      {Plant::realised_divisor, "realised-divisor", "Poisson sums are divided by the realised size",
       "abadi-2016/dp-sgd"},
      {Plant::tree_noise_reused, "tree-noise-reused",
       "the nodes of one level of a tree share their noise", "liu-talwar-2025/adaptive-spider"},
      {Plant::last_leaf_bare, "last-leaf-bare", "the last leaf of a prefix has no noise of its own",
       "liu-talwar-2025/adaptive-spider"},
      {Plant::hessian_product_bare, "hessian-product-bare",
       "Hessian products are released without noise", "gao-wright-2023/short-steps"},
      {Plant::one_question_noise, "one-question-noise",
       "AboveThreshold draws the noise of its questions once for the session",
       "wang-chen-xu-2019/dp-gd"},
      {Plant::half_range, "half-range",
       "an exponential mechanism takes half its range for the whole",
       "lowy-2024/exponential-mechanism"},
      {Plant::choice_bare, "choice-bare", "an exponential mechanism takes the best candidate",
       "lowy-2024/exponential-mechanism"},
      {Plant::choice_half_noise, "choice-half-noise",
       "an exponential mechanism draws at half the temperature that it charges for",
       "lowy-2024/exponential-mechanism"},
      {Plant::noise_averaged, "noise-averaged",
       "noise is (z_t + z_{t-1})/sqrt(2), of the right variance and cancelled by differences",
       "wang-ye-xu-2017/dp-gd"},
      {Plant::question_half_noise, "question-half-noise",
       "AboveThreshold draws half the noise for its questions", "wang-chen-xu-2019/dp-gd"},
      {Plant::samples_cut_up, "samples-cut-up",
       "fixed-size samples are charged, a shuffled list is cut up", "zhang-2017/rrpsgd"},
      {Plant::unreleased_stop, "unreleased-stop",
       "the run stops by the norm of an answer before its noise", "wang-ye-xu-2017/dp-gd"},
      {Plant::uniform_noise, "uniform-noise", "uniform noise of the same variance",
       "wang-ye-xu-2017/dp-gd"},
      {Plant::question_uniform_noise, "question-uniform-noise",
       "AboveThreshold's questions have uniform noise of the same variance", "curator/questions"},
      {Plant::noise_clamped_4, "noise-clamped-4", "Gaussian noise clamped at 4 deviations",
       "curator/gradients"},
      {Plant::noise_clamped_2_6, "noise-clamped-2.6", "Gaussian noise clamped at 2.6 deviations",
       "curator/gradients"},
      {Plant::noise_cut_4, "noise-cut-4",
       "Gaussian noise drawn again where it is beyond 4 deviations", "curator/gradients"},
      {Plant::student_noise, "student-noise",
       "Student noise of 5 degrees of freedom and the same variance", "wang-ye-xu-2017/dp-gd"},
      {Plant::one_percent_zeros, "one-percent-zeros", "1 % of the numbers have no noise",
       "wang-ye-xu-2017/dp-gd"},
      {Plant::noise_on_sphere, "noise-on-sphere", "every noise vector has the expected length",
       "wang-ye-xu-2017/dp-gd"},
      {Plant::noise_of_algorithm, "noise-of-algorithm",
       "noise from the stream that the algorithm has", "wang-ye-xu-2017/dp-gd"},
      {Plant::noise_of_seed, "noise-of-seed", "the same noise in every run, whatever its seed",
       "wang-ye-xu-2017/dp-gd"},
      {Plant::combination_by_larger, "combination-by-larger",
       "gradient combinations are charged by the larger part instead of the sum",
       "wang-2023/dp-srm"},
      {Plant::hessian_mean_clip, "hessian-mean-clip",
       "the mean Hessian is clipped instead of each record's", "wang-xu-2020/dp-trust-region"},
      {Plant::tree_noise_again, "tree-noise-again", "a tree draws the noise of the last tree again",
       "curator/trees"},
      {Plant::antithetic_coins, "antithetic-coins",
       "every other Poisson batch has the coins 1 - u of the last one", "abadi-2016/dp-sgd"},
      {Plant::line_search_half_charge, "line-search-half-charge",
       "a line search is charged half of its epsilon", "gao-wright-2023/short-steps"},
      {Plant::half_range, "half-vertex-range",
       "a choice among vertices takes half its range for the whole", "wang-xu-2019/dp-frank-wolfe"},
      {Plant::filter_by_add_remove, "filter-by-add-remove",
       "the filter charges for add-remove adjacency", "curator/gradients"},
      {Plant::last_charge_cut, "last-charge-cut", "the filter grants one charge more than fits",
       "curator/gradients"},
      {Plant::noise_over_sqrt2, "release-noise-over-sqrt2", "exact noise of half the variance",
       "release/gradients"},
      {Plant::last_leaf_bare, "release-last-leaf-bare",
       "the last leaf of an exact tree has no noise of its own", "release/trees"},
      {Plant::choice_of_noise, "choice-of-noise", "choices among candidates by the words of noise",
       "curator/choices"},
      {Plant::choice_of_algorithm, "choice-of-algorithm",
       "choices among candidates by the words of the algorithm's own stream", "curator/choices"},
      {Plant::choice_of_16_bits, "choice-of-16-bits",
       "choices among candidates by 16 bits of the seed", "curator/choices"},
      {Plant::choice_again, "choice-again",
       "every second choice among candidates by the words of the last one", "curator/choices"},
      {Plant::child_of_parent, "child-of-parent",
       "every child has its parent's streams from their beginning", "curator/children"},
      {Plant::gibbs_on_copy, "gibbs-on-copy", "Gibbs draws leave the stream of noise where it was",
       "curator/gibbs"},
      {Plant::batch_of_noise, "batch-of-noise", "secret batches by the words of noise",
       "abadi-2016/dp-sgd"},
      {Plant::batch_of_algorithm, "batch-of-algorithm",
       "secret batches by the words of the algorithm's own stream", "zhang-2017/rrpsgd"},
      {Plant::batch_again, "batch-again", "every second secret batch is the last one",
       "curator/samples"}};
  return all;
}

const PlantEntry& find_plant(std::string_view name) {
  std::vector<std::string> names;
  for (const PlantEntry& entry : plant_registry()) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  reject_unknown("plant", name, names);
}

}  // namespace dpsosp::audit
