# SPDX-License-Identifier: GPL-3.0-or-later
# Two mechanisms over epsilon at equal delta: data for a chart.
printf 'sex,job,count\nf,yes,12\nf,no,3\nm,yes,9\nm,no,1\n' >table.csv
cellar utility table.csv --mechanism truncated-laplace --mechanism truncated-normal --epsilon 0.5,1.5 \
    --delta 0.00824 --copies 0 --json | sed -n '/"l1"/,/"expected"/p'
cellar utility table.csv --mechanism laplace --vary epsilon=1,2 --copies 0 --json |
    sed -n '/"l2"/,/"expected"/p'
# Synthetic counts at the same delta: the smallest alpha. Poisson: 8 has 0.0009993, 7.99 more than 0.001.
cellar utility table.csv --mechanism poisson --mechanism negbin:sigma=0.05 --epsilon 0.5,1 --delta 0.001 --copies 0 --csv results |
    sed -n '/^"l1"/p' | cut -d'"' -f4
cellar utility table.csv --mechanism negbin --epsilon 0.5,1 --delta 0.001 --copies 0 2>&1
echo "exit $?"
