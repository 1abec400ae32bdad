# SPDX-License-Identifier: GPL-3.0-or-later
# Bounds from single columns, the smaller first, with the thresholds that attain them.
printf 'a,b,count\n0,0,40\n0,1,10\n1,0,9\n1,1,40\n2,1,1\n' >table.csv
cellar exposure bound table.csv --columns a,b --threshold 0.01,0.1 --json
cellar exposure bound table.csv --columns a,b --k 1,5 --csv results
cellar exposure bound table.csv --columns a,b --csv results
cellar exposure bound table.csv --columns a,b --curve --curve-excess 0 --csv results | wc -l
