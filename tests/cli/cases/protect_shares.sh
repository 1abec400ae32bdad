# SPDX-License-Identifier: GPL-3.0-or-later
# Where analysts have shares, one of them pays: no share is dodged by naming nobody, or somebody else.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" -o table.json 2>/dev/null
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 4 2>/dev/null
ask() {
    cellar protect table.json --negatives keep --unit person --ledger l --dataset census \
        --mechanism discrete-laplace:epsilon=0.5 "$@" >/dev/null 2>err
    echo "$*: exit $? $(grep -h 'dataset' err)"
}
ask --request before -o before.csv
cellar ledger add l --dataset census --analyst ana --epsilon 0.5
ask --request before -o before.csv
ask --request one -o one.csv
ask --request one -o one.csv --analyst bob
ask --request one -o one.csv --analyst ana
ask --request two -o two.csv --analyst ana
ls ./*.csv
cellar ledger show l | grep ^Analyst
