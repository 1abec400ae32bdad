# SPDX-License-Identifier: GPL-3.0-or-later
# The certificate hides what was asked for, or what the dataset accounts under; a total is split accordingly.
cellar tabulate "$DATA/people.csv" --by sex --domain "$DATA/lists" -o table.json 2>/dev/null
cellar ledger create l --ledger-key k --dataset swap --unit record --neighbours substitute --epsilon 10 2>/dev/null
protect() {
    cellar protect table.json --mechanism discrete-laplace --total-epsilon 1 --negatives keep --force "$@" 2>&1 |
        sed -n '/total epsilon/p; /--neighbours/p'
}
tell() { grep -o '"\(neighbours\|pure_epsilon_exact\|verdict\)": *"[^"]*"' out.csv.cellar.json; }
protect -o out.csv && tell
protect --neighbours substitute -o out.csv && tell
protect --ledger l --ledger-key k --dataset swap --request a -o out.csv && tell
protect --ledger l --ledger-key k --dataset swap --request b -o b.csv --neighbours add-remove
cellar ledger history l --ledger-key k | awk '$3 == "charge" { print $4, $5, $6, $8 }'
ls
