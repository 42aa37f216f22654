// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/baselines.hpp"

#include "texts.hpp"

namespace dpsosp {

Reproduction baselines_reproduction() { return {.texts = baselines_texts()}; }

}  // namespace dpsosp
