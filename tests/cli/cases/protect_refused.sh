# SPDX-License-Identifier: GPL-3.0-or-later
# What a rule refuses ends with 3, what the command line lacks with 2; nothing is written.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop -o observed.json 2>/dev/null
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" --margins all -o margins.json 2>/dev/null
try() {
    cellar protect "$@" -o out.csv 2>&1
    echo "exit $?"
}
noise='discrete-laplace:epsilon=1'
try observed.json --mechanism $noise --negatives keep
try margins.json --mechanism $noise --negatives keep
try margins.json --mechanism $noise
try margins.json --negatives keep
try margins.json --mechanism $noise --negatives keep --total-epsilon 4
try margins.json --mechanism gaussian:sigma=2 --negatives keep --total-epsilon 4
try margins.json --mechanism $noise --negatives keep --per-cell --total-epsilon 4
try margins.json --mechanism $noise --negatives keep --per-cell --threshold 3
try margins.json --mechanism $noise --negatives keep --per-cell --max-cells 2
try margins.json --mechanism $noise --negatives keep --per-cell --noise keyed
try margins.json --mechanism $noise --negatives keep --per-cell --key some.key
try margins.json --mechanism cell-key:file=none.csv --negatives keep
try margins.json --mechanism multinomial-dirichlet:alpha=1 --negatives keep
cellar protect margins.json --mechanism $noise --negatives keep --per-cell
echo "exit $?"
ls
