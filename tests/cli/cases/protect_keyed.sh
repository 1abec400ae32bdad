# SPDX-License-Identifier: GPL-3.0-or-later
# A key gives a cell the same noise however often it is asked; on other data it is refused.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" --margins all -o margins.json 2>/dev/null
cellar key create my.key --edition 'census 2026' >/dev/null
for threads in 1 2 3; do
    cellar protect margins.json --mechanism discrete-laplace:epsilon=0.1 --per-cell --negatives keep \
        --noise keyed --key my.key --edition 'census 2026' --threads $threads -o out$threads.csv 2>/dev/null
done
cmp out1.csv out2.csv && cmp out1.csv out3.csv && echo same
id=$(cellar key show my.key | sed -n 's/^id //p')
grep -q "\"key_id\": \"$id\"" out1.csv.cellar.json && echo "the id is there"
cellar protect margins.json --mechanism discrete-laplace:epsilon=0.1 --per-cell --negatives keep \
    --noise keyed --key my.key --edition 'census 2027' -o other.csv
