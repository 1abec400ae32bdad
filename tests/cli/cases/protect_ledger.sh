# SPDX-License-Identifier: GPL-3.0-or-later
# A ledger is charged before anything is drawn; a request is drawn once; over the cap nothing is.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" -o table.json 2>/dev/null
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 2 \
    --delta 1e-6 --population 1000 2>/dev/null
cellar ledger add l --dataset rho --unit person --neighbours substitute --rho 0.1
try() {
    echo "-- $*"
    cellar protect table.json --negatives keep --unit person --ledger l "$@" 2>&1 |
        sed '/^cellar: confidential/d; s/cellar-ledger 1 [0-9a-f]* \([0-9]*\) [0-9a-f]*$/STAMP \1/; s/....-..-..T..:..:..Z/TIME/; s/[0-9]* cells released/N cells released/; s|/[^ ]*/||'
}
noise=discrete-laplace:epsilon=0.75
try --mechanism $noise --dataset census --request one -o one.csv
cp one.csv copy.csv
try --mechanism $noise --dataset census --request one -o one.csv
cmp one.csv copy.csv && echo "the same"
try --mechanism $noise --dataset census --request one -o other.csv
try --mechanism $noise --dataset census --request two -o one.csv
try --mechanism $noise --dataset census --request two -o two.json
try --mechanism $noise --dataset census --request three -o three.csv
ls three* 2>/dev/null
cellar protect table.json --negatives keep --unit person --ledger l --mechanism $noise \
    --dataset census --request three -o three.csv 2>/dev/null
echo "exit $?"
try --mechanism gaussian:sigma=20 --dataset census --request four -o four.csv
try --mechanism gaussian:sigma=20 --dataset census --request four -o four.csv --delta 1e-3
try --mechanism gaussian:sigma=20 --dataset census --request four -o four.csv --delta 1e-7
try --mechanism gaussian:sigma=20 --dataset rho --request five -o five.px
try --mechanism $noise --dataset rho --request six -o six.csv
try --mechanism identity --dataset census --request seven -o seven.csv
try --mechanism identity --accept no-protection --dataset census --request seven -o seven.csv
try --mechanism $noise --dataset none --request seven -o seven.csv
try --mechanism $noise --dataset census -o seven.csv
try --mechanism $noise --dataset census --request seven
try --mechanism $noise --dataset census --request seven -o seven
cellar ledger show l --json | sed '/non_adaptive/,/}/d' | grep -E '"(epsilon|delta|rho)"'
plan() { cellar ledger show l "$@" | sed -n 's/\(epsilon [0-9]*\.[0-9][0-9]\)[0-9]*/\1../; /non-adaptive/p'; }
plan
plan --dataset census --delta 1e-8
plan --dataset census --delta 0
cellar ledger verify l --against one.csv --against two.json --against four.csv --against five.px | sed 1d
stat -c '%a %n' one.csv one.csv.cellar.json l l.key
# Cell keys cost nothing and change what the dataset can say.
printf 'sex,key\nF,0.1\nF,0.25\nM,0.7\n' >people.csv
cellar tabulate people.csv --by sex --record-key key --domain "$DATA/lists" -o keyed.json 2>/dev/null
cellar ptable design --variance 2 --m 3 -o matrix.csv 2>/dev/null >/dev/null
cellar protect keyed.json --mechanism cell-key:file=matrix.csv --negatives zero --ledger l \
    --dataset census --request 'table 8' -o eight.csv 2>&1 | sed 's/ledger [0-9a-f]*$/ledger ID/'
cellar ledger show l --dataset census | grep -A1 'Outside'
