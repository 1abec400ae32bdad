# SPDX-License-Identifier: GPL-3.0-or-later
# A ledger that is restored from a copy draws again; no two draws have one stamp, and against the
# ledger only the draw that it recorded is good. So it is with a release that was edited.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" -o table.json 2>/dev/null
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 2 2>/dev/null
cp l copy
draw() {
    cellar protect table.json --negatives keep --unit person --ledger l --dataset census \
        --mechanism discrete-laplace:epsilon=0.5 --request one -o one.json 2>/dev/null
}
for i in 1 2 3 4 5; do
    cp copy l && draw && mkdir $i && mv one.json $i
done
grep -oh 'cellar-ledger 1 [0-9a-f]* [0-9]* [0-9a-f]*' ./*/one.json | sort -u | wc -l
for i in 1 2 3 4 5; do
    cellar ledger verify l --against $i/one.json 2>&1 | sed '1s/head [0-9a-f]*/head HEAD/'
done
cellar ledger verify l --against 1/one.json >/dev/null 2>&1
echo "exit $?"
sed 's/"released"/"released" /' 5/one.json >edited.json
cellar ledger verify l --against edited.json 2>&1
echo "exit $?"
# A description beside the file belongs to what was recorded.
cellar protect table.json --negatives keep --unit person --ledger l --dataset census \
    --mechanism discrete-laplace:epsilon=0.5 --request two --format csvw -o two.csv 2>/dev/null
cellar ledger verify l --against two.csv | sed 1d
echo >>two.csv-metadata.json
cellar ledger verify l --against two.csv 2>&1
echo "exit $?"
