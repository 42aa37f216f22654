// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/Eigenvalues>

#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {
namespace {

using Solver = Eigen::SelfAdjointEigenSolver<Matrix>;

SymmetricEigen pairs(const Solver& solver) {
  if (solver.info() != Eigen::Success)
    throw std::runtime_error("eigenvalues of a symmetric matrix: no convergence");
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace

Vector symmetric_eigenvalues(const Matrix& a) {
  return Solver(a, Eigen::EigenvaluesOnly).eigenvalues();
}

SymmetricEigen symmetric_eigen(const Matrix& a) { return pairs(Solver(a)); }

SymmetricEigen tridiagonal_eigen(ConstVectorRef diagonal, ConstVectorRef off_diagonal) {
  Solver solver;
  double largest = diagonal.cwiseAbs().maxCoeff();
  if (off_diagonal.size() > 0) largest = std::max(largest, off_diagonal.cwiseAbs().maxCoeff());
  // Eigen drops |e| <= machine epsilon * sqrt(|d|), whatever the scale: too much where all entries
  // are small, too little for an end where some are large.
  if (largest == 0 || (largest > 0x1p-20 && largest < 0x1p100)) {
    solver.computeFromTridiagonal(diagonal, off_diagonal);
    if (solver.info() == Eigen::Success) return pairs(solver);
  }
  const int exponent = std::ilogb(largest);
  const auto scaled = [](ConstVectorRef v, int power) -> Vector {
    return v.unaryExpr([power](double entry) { return std::scalbn(entry, power); });
  };
  solver.computeFromTridiagonal(scaled(diagonal, -exponent), scaled(off_diagonal, -exponent));
  SymmetricEigen eigen = pairs(solver);
  eigen.values = scaled(eigen.values, exponent);
  return eigen;
}

}  // namespace dpsosp
