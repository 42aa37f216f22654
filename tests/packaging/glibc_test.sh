#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# glibc_test.sh PROGRAM: it needs no symbol of a glibc newer than 2.34, so it runs on clusters whose system is older.
# Skipped where the program was built with a newer one: what is handed on is built with an older (cmake/packages).
set -euo pipefail
built=$(ldd --version | sed -nE '1s/.* 2\.([0-9]+)$/\1/p')
[ "$built" -le 36 ] || { echo "skipped: this system's glibc 2.$built is newer than that of the system that packages are made on"; exit 77; }
symbols=$(objdump -T "$1" | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu)
[ -n "$symbols" ] || { echo "objdump shows no symbol of glibc" >&2; exit 1; }
newer=$(awk -F. '$2 > 34' <<<"$symbols")
[ -z "$newer" ] || { echo "newer than 2.34:" $newer >&2; exit 1; }
