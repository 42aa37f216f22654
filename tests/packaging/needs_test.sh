#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What CMake looks for stands in the table of docs/library.md.
set -euo pipefail
names=$(sed -nE 's/^ *dpsosp_needs(_header)?\(([^ )]+).*/\2/p' cmake/dpsosp_packages.cmake)
[ "$(wc -w <<<"$names")" -ge 20 ]
for name in $names; do
  grep -qF "\`$name\`" docs/library.md || { echo "docs/library.md does not name $name" >&2; exit 1; }
done
