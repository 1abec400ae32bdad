# SPDX-License-Identifier: GPL-3.0-or-later
# Neither a table nor records are replaced by what is made of them, --force or not.
printf 'sex,count\nf,3\nm,4\n' >t.csv
cp t.csv before.csv
cellar exposure table t.csv --columns sex --k 2 -o t.csv --force 2>&1
echo "exposure: $?"
cellar protect t.csv --mechanism discrete-laplace:epsilon=1 --negatives keep --domain-public -o ./t.csv --force 2>&1
echo "protect: $?"
cmp t.csv before.csv
