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

# A row of the table is: arm, cell ("records = 10000"), solved alpha, error of the estimate, then
# median, smallest and largest of the metric. Here the arms are numbered, and the cell is its number.
cells = "'".sweep."/cells-n.csv'"
rows = "< awk -F, -v OFS=, 'NR > 1 { if ($1 != arm) { arm = $1; k++ } sub(/.*= /, \"\", $2); print k, $0 }' ".cells
arms = "tail -n +2 ".cells." | cut -d, -f1 | uniq"
count = system(arms." | wc -l") + 0
name(k) = system(arms." | sed -n ".k."p")
of(k, value) = column(1) == k ? value : NaN
plot for [k = 1:count] rows using 3:(of(k, column(7))):(of(k, column(8))) \
       with filledcurves linetype k fillstyle transparent solid 0.2 noborder notitle, \
     for [k = 1:count] rows using 3:(of(k, column(6))) \
       with linespoints linetype k pointtype 7 pointsize 0.5 title name(k)
