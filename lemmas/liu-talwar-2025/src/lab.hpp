// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "dpsosp/problems/problem.hpp"

/// What the probes of liu-talwar-2025 share with each other.
namespace dpsosp::liu_talwar_2025_probe {

Problem make_problem(const std::string& name, const std::map<std::string, std::string>& settings,
                     Index records, Index dimension, std::uint64_t seed);
/// A standard normal direction, made a unit vector.
Vector direction(Index d, Stream& stream);
Matrix hessian_of(const Objective& f, const Vector& x);

}  // namespace dpsosp::liu_talwar_2025_probe
