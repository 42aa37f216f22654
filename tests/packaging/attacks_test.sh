#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# attacks_test.sh COMPILER SOURCE DIRECTORIES
# SOURCE compiles with ATTACK 0, and fails with each other number for the reason given here.
set -euo pipefail
compiler=$1 source=$2
export LC_ALL=C  # the compiler's messages are compared
options=()
IFS=';' read -ra list <<<"$3"
for directory in "${list[@]}"; do [ -n "$directory" ] && options+=("-I$directory"); done

compile() { "$compiler" -std=c++20 -fsyntax-only "-DATTACK=$1" "${options[@]}" "$source"; }

refused() {  # NUMBER REASON
  local message
  if message=$(compile "$1" 2>&1); then
    echo "attack $1 compiles" >&2
    exit 1
  fi
  grep -qE "$2" <<<"$message" || {
    printf 'attack %s fails, but not for "%s":\n%s\n' "$1" "$2" "$message" >&2
    exit 1
  }
}

compile 0 || { echo "without an attack it does not compile" >&2; exit 1; }
incomplete='incomplete type|member access into incomplete|read_loss_difference'
refused 1 "no member named .key"
refused 2 "$incomplete"
refused 3 "$incomplete"
refused 4 "const_cast"
refused 5 "sum_"
refused 6 "$incomplete"
refused 7 "measure"
refused 8 "const_cast"
refused 9 "deleted"
echo "9 attacks refused"
