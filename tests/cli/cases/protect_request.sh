# SPDX-License-Identifier: GPL-3.0-or-later
# A request that is known stands for one table and one way to protect it: anything else is refused.
table() { cellar tabulate "$1" --by region,sex --missing-as drop --domain "$DATA/lists" -o "$2" 2>/dev/null; }
table "$DATA/people.csv" table.json
sed '2d' "$DATA/people.csv" >fewer.csv
table fewer.csv fewer.json
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" \
    --margins all -o margins.json 2>/dev/null
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 2 2>/dev/null
ask() {
    echo "-- $*"
    cellar protect "$@" --unit person --ledger l --dataset census --request one -o one.csv \
        >/dev/null 2>err
    echo "exit $?: $(grep request err | sed 's/....-..-..T..:..:..Z/TIME/')"
}
law='--mechanism discrete-laplace:epsilon=0.5'
ask table.json --negatives zero $law
cp one.csv first.csv
ask table.json --negatives zero $law
ask table.json --negatives zero $law --threads 1 --date 2026-01-01
ask fewer.json --negatives zero $law
ask margins.json --negatives zero $law --per-cell
ask table.json --negatives keep $law
ask table.json --negatives zero $law --threshold 3
ask table.json --negatives zero $law --chosen advance
ask table.json --negatives zero $law --domain-public
ask table.json --negatives zero $law --zeros
ask table.json --negatives zero --mechanism discrete-laplace:epsilon=0.25
cellar key create key --edition 1 >/dev/null 2>&1
ask table.json --negatives zero $law --noise keyed --key key --edition 1
cmp one.csv first.csv && echo "the same"
cellar ledger show l --json | grep -A2 '"spent"' | grep epsilon
