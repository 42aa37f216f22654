#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# algorithm_test.sh COMPILER SOURCE DIRECTORIES ROOT...
# SOURCE compiles; with any header below a ROOT it does not, because that header is not found; and
# it does again once the roots are in reach, so nothing else stood in the way.
set -euo pipefail
compiler=$1 source=$2 directories=$3
shift 3
export LC_ALL=C  # the compiler's messages are compared

options=()
IFS=';' read -ra list <<<"$directories"
for directory in "${list[@]}"; do [ -n "$directory" ] && options+=("-I$directory"); done
compile() { "$compiler" -std=c++20 -fsyntax-only "${options[@]}" "$@" "$source"; }

compile || { echo "the algorithm itself does not compile" >&2; exit 1; }

in_reach=()
count=0
for root in "$@"; do
  in_reach+=("-I$root")
  while IFS= read -r header; do
    count=$((count + 1))
    if message=$(compile "-DPROBED_HEADER=<$header>" 2>&1); then
      echo "an algorithm can include $header" >&2
      exit 1
    fi
    grep -qE "$header(:|'?) (No such file or directory|file not found)" <<<"$message" || {
      printf 'refused, but not because %s is not found:\n%s\n' "$header" "$message" >&2
      exit 1
    }
  done < <(cd "$root" && find . -name '*.hpp' -printf '%P\n' | sort)
done
[ "$count" -ge 10 ] || { echo "only $count headers were looked at" >&2; exit 1; }

compile "${in_reach[@]}" '-DPROBED_HEADER=<dpsosp/trusted/records.hpp>'
compile "${in_reach[@]}" '-DPROBED_HEADER=<dpsosp/evaluator/certificate.hpp>'
echo "$count headers refused"
