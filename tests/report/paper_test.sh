#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# paper_test.sh DPSOSP PDFLATEX EXHIBIT...: what `report --paper` and a sweep write compiles.
set -euo pipefail
program=$1 pdflatex=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# compiled FILE.tex: whether it compiles; else the error
compiled() {
  "$pdflatex" -interaction=nonstopmode -halt-on-error "$1" >log || { grep -A 5 '^!' log; exit 1; }
  [ -s "${1%.tex}.pdf" ]
}

"$program" reproduce --scale smoke --quiet --out out "$@" >/dev/null
"$program" report --scale smoke --out out --paper paper "$@" >/dev/null
(cd paper && compiled paper.tex)

cat >mine.toml <<'TOML'
title = "Two methods against n & ε"
metric = "trace.mean_gradient_norm"
seeds = 2
dimension = 4
[[arm]]
name = "DP-SPIDER"
algorithm = "arora-2023/dp-spider"
problem = "ripple-location"
problem_settings = { sampling = "whole" }
[[arm]]
name = "mine_#2"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "ripple-location"
problem_settings = { sampling = "whole" }
[[part]]
name = "n"
axes = [{ records = [1e4, 1e5, 1e6] }]
fit = [{ axis = "records", claimed = -0.5 }]
TOML
"$program" sweep mine.toml --quiet --out out >/dev/null
cat >mine.tex <<'TEX'
\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage{booktabs,graphicx,amsmath,amssymb}
\begin{document}
\input{out/mine/exponents}
\begin{figure}\includegraphics[width=\textwidth]{out/mine/figure-n}\end{figure}
\end{document}
TEX
compiled mine.tex
