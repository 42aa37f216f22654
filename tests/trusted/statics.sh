#!/bin/sh
# Fails if the libraries given have a variable that their code can write and that outlives a call:
# a dense loss or an encoder could keep one record in it for the next. Known are Eigen's sizes of
# caches, a public number, losses by their formula, texts of pages, and the table read last.
symbols=$(objdump -t -C "$@") || exit 2
printf '%s' "$symbols" | grep -q 'DenseSums<' || { echo "no dense loss"; exit 2; }
found=$(printf '%s\n' "$symbols" | grep -E '( O +\.(bss|data)|[lgu!w] +O? *\.(tbss|tdata))' |
  grep -vE '\.data\.rel\.ro|DW\.ref\.|Eigen::internal::manage_caching_sizes|dpsosp::bump_third' |
  grep -vE 'dpsosp::formula_loss\(|::notes\(\) const::formula|::cached_table\(')
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
