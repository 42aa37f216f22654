#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# notebook_test.sh PROGRAM SOURCE_FOLDER: executes the notebook. Exit code 77: what it needs is not installed.
set -euo pipefail
program=$1 source=$2
/usr/bin/python3 -c 'import nbconvert, ipykernel, pandas, numpy' 2>/dev/null || {
  echo "nbconvert, ipykernel, pandas or NumPy is not installed for /usr/bin/python3"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export DPSOSP=$program PYTHONPATH=$source/python IPYTHONDIR=$folder JUPYTER_CONFIG_DIR=$folder HOME=$folder
# A kernel of this Python, whatever others are installed.
mkdir -p "$folder/kernels/python3"
echo '{"argv": ["/usr/bin/python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "language": "python"}' \
  >"$folder/kernels/python3/kernel.json"
export JUPYTER_PATH=$folder
/usr/bin/python3 -m nbconvert --to notebook --execute --output-dir "$folder" \
  "$source/python/examples/first-steps.ipynb" 2>"$folder/log" || { tail -n 20 "$folder/log" >&2; exit 1; }
