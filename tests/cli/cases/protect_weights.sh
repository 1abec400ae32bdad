# SPDX-License-Identifier: GPL-3.0-or-later
# A weighted table needs a public bound that its weights were clipped to; its sums are released.
tabulate() { cellar tabulate "$DATA/people.csv" --by sex --weight weight --domain "$DATA/lists" --force "$@" 2>/dev/null; }
protect() { cellar protect "$@" --mechanism identity --accept no-protection --negatives keep --force -o out.csv; }
tabulate -o table.json
protect table.json
protect table.json --max-weight 2
for format in json csv px; do
    tabulate --max-weight 2 --format $format -o table.$format
    protect table.$format --max-weight 1 --domain-public
    protect table.$format --max-weight 2 --domain-public 2>/dev/null
    cat out.csv
done
grep max_weight out.csv.cellar.json
head -2 table.csv
cellar protect table.json --max-weight 5 --mechanism discrete-laplace --total-epsilon 1 --negatives keep -o noisy.csv 2>&1 | head -2
# Read back from every format: it is known to hold sums of weights.
for format in csv json px; do
    cellar protect table.json --max-weight 2 --mechanism discrete-laplace:epsilon=1 --negatives keep --domain-public -o noisy2.$format 2>/dev/null
    cellar infer interval noisy2.$format --of sex=F 2>&1 || echo "exit $?"
done
