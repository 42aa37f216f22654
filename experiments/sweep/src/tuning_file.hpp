// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/toml_reader.hpp"

/// Tuning as the file of a sweep states it.
namespace dpsosp {

/// [tune], but for its space.
Tuning tuning_of(const TomlTable& tune, Scale scale);

/// Gives an arm its trials: the space of [tune], as far as the arm does not say otherwise.
void tune_arm(const TomlNode& node, const TomlTable& tune, Scale scale, Arm& arm);

/// Refuses a part whose results would see what tuning has seen.
void check_apart(const TomlNode& node, const Part& part, const Tuning& tuning);

}  // namespace dpsosp
