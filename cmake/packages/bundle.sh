#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bundle.sh BUILD_FOLDER OUT.tar.gz: the program with the libraries that a bare system lacks, to be
# unpacked anywhere. It takes glibc 2.34 and the C++ library of GCC 11, or newer ones, from the system.
set -euo pipefail
build=$1 out=$(realpath -m "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/dpsosp
cmake --install "$build" --component program --prefix "$root" --strip >/dev/null
libraries=$root/lib/dpsosp-bundle
mkdir -p "$libraries"
for program in "$root"/bin/*; do
  ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// {print $3}'
done | sort -u | grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so' | while read -r library; do
  cp -L "$library" "$libraries/"
done
for file in "$root"/bin/* "$libraries"/*; do
  newer=$(objdump -T "$file" | grep -oE 'GLIBC_2\.[0-9]+' | sort -Vu | awk -F. '$2 > 34')
  [ -z "$newer" ] || { echo "bundle: ${file##*/} needs $newer" >&2; exit 1; }
done
tar -C "$folder" -czf "$out" dpsosp
echo "$out"
