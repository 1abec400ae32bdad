# SPDX-License-Identifier: GPL-3.0-or-later
# All cells drawn together are charged ln((n+A)/A): under substitution, or with a total that is not the table's.
cellar tabulate "$DATA/people.csv" --by sex --domain "$DATA/lists" -o table.json 2>/dev/null
cellar ledger create l --ledger-key k --dataset swap --unit record --neighbours substitute --epsilon 10 2>/dev/null
cellar ledger add l --ledger-key k --dataset join --unit record --neighbours add-remove --epsilon 10
protect() {
    cellar protect table.json --negatives keep --ledger l --ledger-key k "$@" 2>&1 |
        sed 's/cellar-ledger 1 .*/STAMP/; s/^\(cellar: \)[0-9]* cells*/\1N cells/'
}
protect --mechanism multinomial-dirichlet:alpha=2 --dataset swap --request a -o a.csv
protect --mechanism multinomial-dirichlet:alpha=2 --dataset swap --request a -o a.csv
protect --mechanism multinomial-dirichlet:alpha=2 --dataset join --request b -o b.csv
protect --mechanism multinomial-dirichlet:alpha=2,total=6 --dataset join --request c -o c.csv
awk -F, 'NR > 1 { n += $2 } END { print n }' a.csv c.csv
cellar ledger history l --ledger-key k | awk '$3 == "charge" { print $4, $5, $6, $8 }'
