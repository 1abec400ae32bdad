# SPDX-License-Identifier: GPL-3.0-or-later
# What can be refused is refused before anything is charged.
printf 'code\nF\nM\n' >codes
table() { # of a variable called $1
    printf '%s\nF\nF\nM\n' "$1" >data.csv
    cellar tabulate data.csv --count none --by "$1" --domain "$1=codes" -o "$2" 2>/dev/null
}
table sex table.json
table released released.json
table OBS_VALUE value.json
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 4 2>/dev/null
ask() {
    echo "-- $*"
    cellar protect "$@" --unit person --ledger l --dataset census --request one >/dev/null 2>err
    echo "exit $?: $(grep -v 'confidential\|total epsilon\|touches\|released;' err)"
    cellar ledger history l --json | grep -c '"entry"'
}
law='--mechanism discrete-laplace:epsilon=0.5 --negatives zero'
ask released.json $law -o out.csv
ask released.json $law --format csvw -o out.csv
ask value.json $law --format sdmx -o out.csv
ask table.json $law -o out.csv --date yesterday
ask table.json $law -o out.csv --max-weight 3
ask table.json $law -o missing/out.csv
ask table.json --mechanism identity --negatives keep -o out.csv
ask table.json --mechanism gaussian:sigma=2 --negatives keep -o out.csv
ask table.json --mechanism discrete-laplace:epsilon=0 --negatives keep -o out.csv
ask table.json $law -o out.csv
ls out.csv
