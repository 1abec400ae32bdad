# SPDX-License-Identifier: GPL-3.0-or-later
# Missing values as wildcards: the curve takes them for a level, the groups for a wildcard, and each
# says so. Weights are not used, which is said too.
printf 'a,b,c,w\n1,1,1,2\n1,,1,2\n1,1,2,2\n2,1,,2\n2,2,1,2\n2,2,2,2\n,2,1,2\n' >records.csv
cellar exposure table records.csv --columns a,b,c --k 2 --threshold 0.3 --missing-as wildcard
cellar exposure table records.csv --columns a,b,c --k 2 --missing-as level | grep -c 'level$'
cellar tabulate records.csv --by a,b --missing-as drop --weight w -o table.json 2>/dev/null
cellar exposure table table.json --columns a --k 2 2>&1 | head -1
cellar exposure bound table.json --columns a,b --threshold 0.3 2>&1 | head -1
cellar risk table table.json --qid a --sensitive b --mechanism discrete-laplace:epsilon=1 2>&1 | head -1
