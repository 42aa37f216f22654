// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Eigenvalues>

#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {
namespace {

using Solver = Eigen::SelfAdjointEigenSolver<Matrix>;

SymmetricEigen pairs(const Solver& solver) { return {solver.eigenvalues(), solver.eigenvectors()}; }

}  // namespace

Vector symmetric_eigenvalues(const Matrix& a) {
  return Solver(a, Eigen::EigenvaluesOnly).eigenvalues();
}

SymmetricEigen symmetric_eigen(const Matrix& a) { return pairs(Solver(a)); }

SymmetricEigen tridiagonal_eigen(ConstVectorRef diagonal, ConstVectorRef off_diagonal) {
  Solver solver;
  solver.computeFromTridiagonal(diagonal, off_diagonal);
  return pairs(solver);
}

}  // namespace dpsosp
