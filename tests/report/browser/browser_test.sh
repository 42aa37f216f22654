#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# browser_test.sh DPSOSP CHROMIUM: a report of one exhibit at smoke scale, driven in a headless browser:
# no error on the console, no page and no table wider than its place at 1280 px, no page at 390 px, all
# links and anchors lead somewhere, one element an id; search, legends, sorting, filters and dark work.
set -euo pipefail
program=$1 chromium=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" reproduce --scale smoke --quiet --out "$work/out" lowy-2024/contour >/dev/null
report=$work/out/report
cp "$here/check.js" "$report/check.js"
(cd "$report" && find . -name '*.html' -printf '%P\n' | sort |
  sed 's/.*/"&"/' | paste -sd, | sed 's/^/var PAGES = [/; s/$/];/') >"$report/pages.js"
printf '<!DOCTYPE html><meta charset="utf-8"><script src="pages.js"></script><script src="check.js"></script><body></body>' \
  >"$report/check.html"
"$chromium" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --window-size=1400,1000 \
  --user-data-dir="$work/profile" --enable-logging=stderr --virtual-time-budget=600000 --dump-dom \
  "file://$report/check.html" >"$work/dom" 2>"$work/log"
# Messages of the pages themselves; the browser's own are no fault of theirs.
if grep -E 'CONSOLE.*(Error|error)' "$work/log"; then exit 1; fi
sed -n '/PAGES/,/END/p' "$work/dom"
grep -q 'FAULTS 0$' "$work/dom"
