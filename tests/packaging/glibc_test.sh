#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# glibc_test.sh PROGRAM: it needs no symbol of a glibc newer than 2.34, so it runs on clusters whose system is older.
set -euo pipefail
symbols=$(objdump -T "$1" | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu)
[ -n "$symbols" ] || { echo "objdump shows no symbol of glibc" >&2; exit 1; }
newer=$(awk -F. '$2 > 34' <<<"$symbols")
[ -z "$newer" ] || { echo "newer than 2.34:" $newer >&2; exit 1; }
