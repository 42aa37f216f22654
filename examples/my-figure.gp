# SPDX-License-Identifier: Apache-2.0
# gnuplot -e "sweep='out/my-sweep'" examples/my-figure.gp draws out/my-sweep/n.svg: medians over seeds
# against n, with a band from the smallest to the largest seed.
if (!exists("sweep")) sweep = "out/my-sweep"
set terminal svg size 640,420 font "sans,13" background "white"
set output sweep."/n.svg"
set datafile separator ","
set logscale xy
set format xy "10^{%L}"
set key top right
set xlabel "records n"
set ylabel "mean gradient norm"

# A row of the table is: arm, records, then median, smallest and largest of the metric. An arm's rows stand together.
cells = sweep."/cells-n.csv"
arms = "tail -n +2 '".cells."' | cut -d, -f1 | uniq"
count = system(arms." | wc -l") + 0
array name[count]
do for [k = 1:count] { name[k] = system(arms." | sed -n ".k."p") }
of(k, value) = strcol(1) eq name[k] ? value : NaN
plot for [k = 1:count] cells skip 1 using 2:(of(k, $4)):(of(k, $5)) \
       with filledcurves linetype k fillstyle transparent solid 0.2 noborder notitle, \
     for [k = 1:count] cells skip 1 using 2:(of(k, $3)) \
       with linespoints linetype k pointtype 7 pointsize 0.5 title name[k]
