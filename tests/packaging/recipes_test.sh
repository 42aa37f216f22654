#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recipes_test.sh CMAKE SOURCE_FOLDER
# Follows the recipes of CONTRIBUTING.md for an algorithm and for a problem to the letter, in a copy of
# the sources under another name, with the release preset; then check, audit and the contract suites.
set -euo pipefail
cmake=$1 source=$2
export LC_ALL=C

folder=$(mktemp -d) group=
# Each step is a process group of its own. What ends this script ends it, compilers and all.
step() {
  local status=0
  setsid "$@" &
  group=$!
  wait "$group" || status=$?
  group=
  return $status
}
end() {
  [ -z "$group" ] || kill -KILL -- "-$group" || true
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'exit 129' HUP
copy=$folder/another-name
mkdir "$copy"
git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null -T - -cf - | tar -C "$copy" -xf -
cd "$copy"

# An algorithm: a folder, a folder of tests, two lines in the registry.
mkdir algorithms/smith-2027 tests/algorithms/smith-2027
cp -r examples/algorithm/CMakeLists.txt examples/algorithm/include examples/algorithm/src algorithms/smith-2027/
cp examples/algorithm/normalised_momentum_test.cpp tests/algorithms/smith-2027/
registry=algorithms/registry/src/registry.cpp
sed -i 's|^#include "dpsosp/xu_2026/dp_rgda.hpp"|#include "dpsosp/smith_2027/normalised_momentum.hpp"\n&|' $registry
sed -i 's|^      entry<xu_2026::DpRgda>(),|&\n      entry<smith_2027::NormalisedMomentum>(),|' $registry
cat >tests/algorithms/smith-2027/CMakeLists.txt <<'TEXT'
dpsosp_test(test_normalised_momentum LABEL fast SOURCES normalised_momentum_test.cpp
  LIBRARIES algorithm_test_runs dpsosp::smith_2027)
TEXT

# A problem: two files, two lines in the registry.
base=problems/landscapes
cp -r examples/problem/include examples/problem/src $base/
registry=problems/registry/src/registry.cpp
sed -i 's|^#include "dpsosp/problems/matrix_completion.hpp"|#include "dpsosp/problems/log_well.hpp"\n&|' "$registry"
sed -i 's|^      entry<DoubleWell>(),|&\n      entry<LogWell>(),|' "$registry"

step "$cmake" --preset release -DDPSOSP_BENCHMARKS=OFF >configure.log 2>&1 || { cat configure.log >&2; exit 1; }
step "$cmake" --build build/release --target dpsosp test_algorithms test_normalised_momentum test_packaging_readme >build.log 2>&1 ||
  { tail -50 build.log >&2; exit 1; }
step build/release/bin/dpsosp check log-well
step build/release/bin/dpsosp check smith-2027/normalised-momentum
step build/release/bin/dpsosp audit --algorithm smith-2027/normalised-momentum --scale smoke
step build/release/bin/dpsosp list algorithms --document docs
step build/release/bin/dpsosp list problems --document docs
step build/release/bin/test_normalised_momentum --gtest_brief=1
step build/release/bin/test_algorithms --gtest_brief=1
step build/release/bin/test_packaging_readme --gtest_brief=1
