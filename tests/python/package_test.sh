#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# package_test.sh SOURCE_FOLDER: pip installs the package without a network. Exit code 77: no pip, or no NumPy.
set -euo pipefail
source=$1
/usr/bin/python3 -c 'import pip, venv, ensurepip, numpy' 2>/dev/null || {
  echo "pip, venv or NumPy is not installed for /usr/bin/python3"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
/usr/bin/python3 -m venv --system-site-packages "$folder/venv"
cp -r "$source/python" "$folder/python"
"$folder/venv/bin/pip" install --quiet --no-index "$folder/python"
cd "$folder"
"$folder/venv/bin/python" - <<'TEXT'
import pathlib
import dpsosp

assert "venv" in dpsosp.__file__, dpsosp.__file__
for file in ("py.typed", "dpsosp.mplstyle", "report/style.css", "report/templates/base.html"):
    assert (pathlib.Path(dpsosp.__file__).parent / file).exists(), file
assert dpsosp.poisson(0.5).rate == 0.5
TEXT
