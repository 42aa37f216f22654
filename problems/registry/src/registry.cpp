// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/registry.hpp"

#include <algorithm>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/auc.hpp"
#include "dpsosp/problems/coins.hpp"
#include "dpsosp/problems/cosine_minimax.hpp"
#include "dpsosp/problems/cosine_saddle.hpp"
#include "dpsosp/problems/covariance_gan.hpp"
#include "dpsosp/problems/double_well.hpp"
#include "dpsosp/problems/glm_logistic.hpp"
#include "dpsosp/problems/glm_robust.hpp"
#include "dpsosp/problems/glm_sigmoid.hpp"
#include "dpsosp/problems/group_dro.hpp"
#include "dpsosp/problems/matrix_completion.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "dpsosp/problems/matrix_sensing_symmetric.hpp"
#include "dpsosp/problems/mnist_glm.hpp"
#include "dpsosp/problems/multi_well.hpp"
#include "dpsosp/problems/octopus.hpp"
#include "dpsosp/problems/orthogonal_tensor.hpp"
#include "dpsosp/problems/own_glm.hpp"
#include "dpsosp/problems/phase_retrieval.hpp"
#include "dpsosp/problems/quartic_saddle.hpp"
#include "dpsosp/problems/radial_ripple.hpp"
#include "dpsosp/problems/ramp.hpp"
#include "dpsosp/problems/randhie_glm.hpp"
#include "dpsosp/problems/resisting_chain.hpp"
#include "dpsosp/problems/ripple_location.hpp"
#include "dpsosp/problems/robust_phase_retrieval.hpp"
#include "dpsosp/problems/separable_pl.hpp"
#include "dpsosp/problems/staircase.hpp"
#include "dpsosp/problems/tensor_ica.hpp"
#include "dpsosp/problems/trig_radial.hpp"

namespace dpsosp {
namespace {

template <class Family>
ProblemEntry entry() {
  return {std::string(Family().name()),
          []() -> std::unique_ptr<ProblemFamily> { return std::make_unique<Family>(); }};
}

std::vector<ProblemEntry>& registered_problems() {
  static std::vector<ProblemEntry> entries{
      entry<MatrixSensing>(),
      entry<CosineSaddle>(),
      entry<CosineMinimax>(),
      entry<CovarianceGan>(),
      entry<DoubleWell>(),
      entry<Auc>(),
      entry<Coins>(),
      entry<GlmLogistic>(),
      entry<GlmSigmoid>(),
      entry<GlmTukey>(),
      entry<GlmWelsch>(),
      entry<GroupDro>(),
      entry<MatrixCompletion>(),
      entry<MatrixSensingSymmetric>(),
      entry<MnistGlm>(),
      entry<MultiWell>(),
      entry<Octopus>(),
      entry<OrthogonalTensor>(),
      entry<OwnGlm>(),
      entry<PhaseRetrieval>(),
      entry<QuarticSaddle>(),
      entry<RadialRipple>(),
      entry<Ramp>(),
      entry<RandhieGlm>(),
      entry<ResistingChain>(),
      entry<RippleLocation>(),
      entry<RobustPhaseRetrieval>(),
      entry<SeparablePl>(),
      entry<Staircase>(),
      entry<TensorIca>(),
      entry<TrigRadial>(),
  };
  return entries;
}

}  // namespace

const std::vector<ProblemEntry>& problem_registry() { return registered_problems(); }

void add_problems(const std::vector<ProblemEntry>& entries) {
  auto& all = registered_problems();
  for (const ProblemEntry& entry : entries) {
    if (std::ranges::find(all, entry.name, &ProblemEntry::name) != all.end())
      throw InputError("two problems have the name " + entry.name);
    all.push_back(entry);
  }
}

std::filesystem::path own_data(const ProblemFamily& family) {
  const auto* own = dynamic_cast<const OwnGlm*>(&family);
  return own == nullptr ? std::filesystem::path() : std::filesystem::path(own->data);
}

std::unique_ptr<ProblemFamily> find_problem(std::string_view name) {
  const auto& entries = problem_registry();
  const auto found = std::ranges::find(entries, name, &ProblemEntry::name);
  if (found != entries.end()) return found->create();
  std::vector<std::string> names;
  for (const auto& e : entries) names.push_back(e.name);
  if (nearest(name, names).empty())
    throw InputError("unknown problem '" + std::string(name) + "'; see dpsosp list problems");
  reject_unknown("problem", name, names);
}

std::unique_ptr<ProblemFamily> find_problem(std::string_view name,
                                            const std::map<std::string, std::string>& settings) {
  auto family = find_problem(name);
  Fields fields = family->fields();
  for (const auto& [setting, text] : settings) set_field(fields, name, setting, text);
  return family;
}

}  // namespace dpsosp
