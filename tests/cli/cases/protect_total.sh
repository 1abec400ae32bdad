# SPDX-License-Identifier: GPL-3.0-or-later
# A total is split over the cells that a unit touches; what to expect is told first.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" --margins all -o margins.json 2>/dev/null
cellar protect margins.json --mechanism discrete-laplace --total-epsilon 1 --per-unit 3 --unit person \
    --negatives zero --chosen advance --date 2026-07-01 -o out.json --forecast --json 2>messages |
    sed 's/"cells": [0-9]*,/"cells": N,/'
sed 's/^cellar: [0-9]* cells/cellar: N cells/' messages
