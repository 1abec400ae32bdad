# SPDX-License-Identifier: GPL-3.0-or-later
# What is wrong is named, and nothing is guessed.
printf 'a,b,count\n0,0,4\n1,1,5\n' >table.csv
printf 'a,b\n0,0\n' >records.csv
say() { cellar utility "$@" 2>&1; echo "exit $?"; }
say
say table.csv
say table.csv a b
say none.csv --mechanism identity
say records.csv --mechanism identity
say table.csv --mechanism laplace
say table.csv --mechanism laplas:epsilon=1
say table.csv --mechanism laplace:epsilon=1 --epsilon 1,2
say table.csv --mechanism laplace --epsilon x
say table.csv --mechanism laplace --epsilon 1 --vary epsilon=2
say table.csv --mechanism laplace --epsilon 1..x
say table.csv --mechanism laplace --vary epsilon=1..x
say table.csv --mechanism laplace --vary epsilon
say table.csv --mechanism poisson:alpha=1 --delta 0.1
say table.csv --mechanism laplace --epsilon 1 --delta 2
say table.csv --mechanism laplace:epsilon=1 --threshold 3
say table.csv --mechanism laplace:epsilon=1 --counts 3,2
say table.csv --mechanism laplace:epsilon=1 --ways 4
say table.csv --mechanism laplace:epsilon=1 --json --csv results
say table.csv --mechanism laplace:epsilon=1 -o table.csv --force
say table.csv --mechanism cell-key:file=none.csv
say table.csv --mechanism laplace:epsilon=1 --domain a
say table.csv --mechanim laplace
