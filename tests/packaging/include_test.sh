#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# include_test.sh COMPILER DIRECTORIES {+ROOT|-ROOT}...
# Every header below a +ROOT is found in the include directories (separated by ';'), and none below
# a -ROOT is. The preprocessor answers, with nothing included, so that one call is enough.
set -euo pipefail
compiler=$1 directories=$2
shift 2

source=$(mktemp --suffix=.cpp)
trap 'rm -f "$source"' EXIT
headers=0
for argument in "$@"; do
  root=${argument:1}
  unwanted=''
  [ "${argument:0:1}" = + ] && unwanted='!'
  while IFS= read -r header; do
    headers=$((headers + 1))
    printf '#if %s__has_include(<%s>)\n#error %s %s\n#endif\n' \
      "$unwanted" "$header" "$([ -n "$unwanted" ] && echo 'must be found:' || echo 'must not be found:')" \
      "$header" >>"$source"
  done < <(cd "$root" && find . -name '*.hpp' -printf '%P\n' | sort)
done
[ "$headers" -ge 40 ] || { echo "only $headers headers were looked at" >&2; exit 1; }

options=()
IFS=';' read -ra list <<<"$directories"
for directory in "${list[@]}"; do [ -n "$directory" ] && options+=("-I$directory"); done
"$compiler" -std=c++20 -fsyntax-only "${options[@]}" "$source"
echo "$headers headers"
