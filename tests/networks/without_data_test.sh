#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# without_data_test.sh PROGRAM: a problem whose data are missing is listed, has a page that says what
# it needs, and stops nothing else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export DPSOSP_DATA=$folder/data
"$1" list problems >"$folder/list"
grep -A 2 '^cola-bert' "$folder/list" | grep -q 'needs data: '
"$1" reproduce xu-2026/table-2 --scale smoke --quiet --out "$folder/out"
grep -q 'needs data: ' "$folder/out/report/problems/cola-bert.html"
