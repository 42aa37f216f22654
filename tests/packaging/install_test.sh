#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install_test.sh CMAKE BUILD_FOLDER CONSUMER_FOLDER EXAMPLES_FOLDER COMPILER
# Installs the build into a folder of its own, builds the consumer project against it and runs it.
set -euo pipefail
cmake=$1 build=$2 consumer=$3 examples=$4 compiler=$5
export LC_ALL=C

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$cmake" --install "$build" --prefix "$folder/prefix" >"$folder/install.log"
# What `./run dpsosp` leaves unbuilt is named before anything is installed.
[[ $(grep -m 1 -E 'built\.cmake|file\(INSTALL' "$build/cmake_install.cmake") == *built.cmake* ]] ||
  { echo "the installation does not look first whether all is built" >&2; exit 1; }
sed 's/libdpsosp_core/libdpsosp_missing/' "$build/built.cmake" >"$folder/built.cmake"
if "$cmake" -P "$folder/built.cmake" 2>"$folder/built.log"; then
  echo "a library that is not built is not noticed" >&2
  exit 1
fi
[[ $(tr -s '\n ' ' ' <"$folder/built.log") == *'libdpsosp_missing'*' is not built; first: ./run build'* ]] ||
  { cat "$folder/built.log" >&2; exit 1; }
"$cmake" -DCMAKE_INSTALL_COMPONENT=program -P "$folder/built.cmake"  # which needs no library
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

# The example of docs/library.md, whose components need neither SQLite nor JSON; one that takes the core
# alone needs no more than Eigen, fmt and Highway.
without=()
for package in nlohmann_json SQLiteCpp OpenSSL PNG ICU; do
  without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
"$cmake" -G Ninja -S "$examples/library" -B "$folder/example" "${without[@]}" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$folder/prefix" >"$folder/example.log" 2>&1 &&
  "$cmake" --build "$folder/example" >>"$folder/example.log" 2>&1 ||
  { cat "$folder/example.log" >&2; exit 1; }
"$folder/example/example" >"$folder/example.out"
grep -Eq '^100 steps, noise 42\.2[0-9]* times the sensitivity, epsilon spent (1|0\.9999[0-9]*)$' "$folder/example.out" ||
  { echo "the example did not spend its budget" >&2; cat "$folder/example.out" >&2; exit 1; }
awk '/^sosp_level/ { ok = $6 < 0.1 * $2 } END { exit !ok }' "$folder/example.out" ||
  { echo "the example does not end below its start" >&2; cat "$folder/example.out" >&2; exit 1; }
mkdir "$folder/core"
cat >"$folder/core/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(core_alone LANGUAGES CXX)
find_package(dpsosp 0.2 REQUIRED COMPONENTS core)
TEXT
for package in TBB Boost FFTW3; do without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done
"$cmake" -G Ninja -S "$folder/core" -B "$folder/core/build" "${without[@]}" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$folder/prefix" >"$folder/core.log" 2>&1 ||
  { cat "$folder/core.log" >&2; exit 1; }

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
grep -q 'dpsosp/trusted/records.hpp: No such file\|records.hpp.* file not found' "$folder/leaky.log" ||
  { cat "$folder/leaky.log" >&2; exit 1; }

"$folder/prefix/bin/dpsosp" list problems --json >/dev/null
for file in man/man1/dpsosp.1 bash-completion/completions/dpsosp zsh/site-functions/_dpsosp \
  fish/vendor_completions.d/dpsosp.fish; do
  [ -s "$folder/prefix/share/$file" ] || { echo "share/$file is not installed" >&2; exit 1; }
done
