#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install_test.sh CMAKE BUILD_FOLDER CONSUMER_FOLDER COMPILER
# Installs the build into a folder of its own, builds the consumer project against it and runs it.
set -euo pipefail
cmake=$1 build=$2 consumer=$3 compiler=$4
export LC_ALL=C

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$cmake" --install "$build" --prefix "$folder/prefix" >"$folder/install.log"
# The package must not lean on the tree that it came from.
if grep -rIlF -e "$build" "$folder/prefix" --include='*.cmake'; then
  echo "the files above name the build folder" >&2
  exit 1
fi

configure() {
  "$cmake" -G Ninja -S "$consumer" -B "$folder/$1" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$folder/prefix" >"$folder/$1.log" 2>&1 ||
    { cat "$folder/$1.log" >&2; exit 1; }
}
configure consumer
"$cmake" --build "$folder/consumer" --target consumer plugin >"$folder/build.log" 2>&1 ||
  { cat "$folder/build.log" >&2; exit 1; }
"$folder/consumer/consumer"

# The same steps in this process, of the suite and as a stranger's program in a process of its own.
"$folder/prefix/bin/dpsosp" run --program "$folder/consumer/plugin" --problem cosine-saddle --records 200 \
  --epsilon 1 --delta 1e-6 --seed 1 --json >"$folder/run.json"
grep -q '"status": *"budget"' "$folder/run.json" ||
  { echo "the program did not run until its budget was spent" >&2; cat "$folder/run.json" >&2; exit 1; }

# The arrows hold outside the tree too.
if "$cmake" --build "$folder/consumer" --target leaky >"$folder/leaky.log" 2>&1; then
  echo "an algorithm built against the installed package can include the records" >&2
  exit 1
fi
grep -q 'dpsosp/problems/records.hpp: No such file\|records.hpp.* file not found' "$folder/leaky.log" ||
  { cat "$folder/leaky.log" >&2; exit 1; }

"$folder/prefix/bin/dpsosp" list problems --json >/dev/null
