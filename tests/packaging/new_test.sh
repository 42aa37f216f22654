#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# new_test.sh CMAKE BUILD_FOLDER COMPILER
# What `dpsosp new` writes compiles against the installed package, is found, and passes `check`.
set -euo pipefail
cmake=$1 build=$2 compiler=$3
export LC_ALL=C

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$cmake" --install "$build" --prefix "$folder/prefix" >"$folder/install.log"
export PATH=$folder/prefix/bin:$PATH
mkdir "$folder/work"
cd "$folder/work"

# own FOLDER: builds the program of one's own in it.
own() {
  "$cmake" -G Ninja -S "$1" -B "$1/build" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$folder/prefix" \
    >"$1.log" 2>&1 && "$cmake" --build "$1/build" >>"$1.log" 2>&1 || { tail -n 40 "$1.log" >&2; exit 1; }
}
# has WORDS TEXT: the output of the program of one's own has the text.
has() {
  local text=${*: -1}
  "${@:1:$#-1}" >out.txt 2>&1 || { cat out.txt >&2; exit 1; }
  grep -qF -- "$text" out.txt || { echo "no '$text' in:" >&2; cat out.txt >&2; exit 1; }
}

dpsosp new algorithm plain-steps
own plain-steps
mine=plain-steps/build/my-dpsosp
has $mine list algorithms mine/plain-steps
has $mine check mine/plain-steps "mine/plain-steps: passed"
has $mine run --algorithm mine/plain-steps --problem double-well --records 500 --epsilon 1 --delta 1e-6 mine/plain-steps

dpsosp new problem two-wells
own two-wells
has two-wells/build/my-dpsosp list problems two-wells
has two-wells/build/my-dpsosp check two-wells passed

dpsosp new sweep rates
dpsosp sweep rates.toml --scale smoke --quiet >/dev/null
dpsosp new claim my-claim
dpsosp sweep my-claim.toml --scale smoke --quiet >/dev/null
has dpsosp fit my-claim.toml --scale smoke -0.5

dpsosp new algorithm in-python --python
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  has dpsosp check in-python.toml "mine/in-python: passed"
  # The program of one's own starts the installed guest.
  has $mine check in-python.toml "mine/in-python: passed"
fi
