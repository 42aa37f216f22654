// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "curator.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"

namespace dpsosp::door {

/// What `dpsosp::GibbsSampler` is a handle of.
class GibbsSampler {
 public:
  GibbsSampler(Curator& curator, const Batch& batch, const GibbsSpec& spec);

  double epsilon() const { return epsilon_; }
  void sample(VectorRef out);

  Curator& curator() const { return *curator_; }

 private:
  class ClampedLoss;

  Curator* curator_;
  Batch batch_;
  GibbsSpec spec_;
  AlternateSampler sampler_;
  double epsilon_;
};

}  // namespace dpsosp::door
