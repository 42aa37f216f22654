// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace dpsosp {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// Input views by const reference, output views by value. Both are contiguous columns.
using ConstVectorRef = const Eigen::Ref<const Vector>&;
using VectorRef = Eigen::Ref<Vector>;
using MatrixRef = Eigen::Ref<Matrix>;

}  // namespace dpsosp
