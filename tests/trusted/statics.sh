#!/bin/sh
# Fails if the libraries given have a variable that their code can write and that outlives a call:
# a dense loss could keep one record in it for the next. Eigen's sizes of caches and a public number
# are known.
symbols=$(objdump -t -C "$@") || exit 2
printf '%s' "$symbols" | grep -q 'DenseSums<' || { echo "no dense loss"; exit 2; }
found=$(printf '%s\n' "$symbols" | grep -E '( O +\.(bss|data)|[lgu!w] +O? *\.(tbss|tdata))' |
  grep -vE '\.data\.rel\.ro|DW\.ref\.|Eigen::internal::manage_caching_sizes|dpsosp::bump_third')
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
