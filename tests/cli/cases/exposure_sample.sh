# SPDX-License-Identifier: GPL-3.0-or-later
# Bands when the data are a sample, the floor, and the published number with its warning.
printf 'v,count\na,500\nb,300\nc,150\nd,50\n' >sample.csv
cellar exposure table sample.csv --columns v --threshold 0.1 --k 2 --population 1000 --delta 0.05
cellar exposure table sample.csv --columns v --curve --delta 0.05 --csv results | grep curve
