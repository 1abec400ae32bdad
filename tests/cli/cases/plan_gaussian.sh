# SPDX-License-Identifier: GPL-3.0-or-later
# A budget of epsilon and delta: a plan finds the sigma of Gaussian noise, the one that protect finds, splits rho, and is
# charged at that delta.
plan() { # FILE, TABLES, BUDGET, MECHANISM, MORE
    cat >"$1" <<END
plan: 1
data: {file: $DATA/people.csv, missing_as: drop}
unit: {name: person}
variables:
  - {name: region, codelist: $DATA/lists/region.csv}
  - {name: sex, codelist: $DATA/lists/sex.csv}
tables:
$2
mechanism: $4
budget: {$3}
negatives: keep
parameter_choice: advance
outputs: {folder: pack, formats: [csv]}
$5
END
}
one='  - {name: one, by: [region, sex], margins: [region, total]}'
two='  - {name: two, by: [sex], weight: 3}'
plan one.yaml "$one" 'epsilon: 1, delta: 1e-6' discrete-gaussian
cellar plan check one.yaml | grep -e tight -e sigma
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" --margins region,total \
    -o table.json 2>/dev/null
cellar protect table.json --mechanism discrete-gaussian --total-epsilon 1 --delta 1e-6 --negatives keep --unit person \
    -o release.csv 2>&1 | grep -o 'discrete-gaussian:sigma=[0-9.]*'
plan both.yaml "$one
$two" 'epsilon: 1, delta: 1e-6, split: weights' gaussian 'ledger: {file: l, dataset: census, request: first}'
cellar plan check both.yaml | grep -e tight -e sigma
cellar plan compare both.yaml | sed -n '1p; /cells/,/^d/p'
cellar plan compare both.yaml --json | grep found_for
echo "# charged at that delta, and no more than that epsilon"
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 1 --delta 1e-6 --population 100000 2>/dev/null
cellar plan run both.yaml 2>&1 | grep -o 'tight.*\|charged.*'
cellar ledger show l | grep -o 'It satisfies epsilon 0.99[0-9]*, delta [0-9.e-]*' | sed 's/0.99[0-9]*/0.99../'
ls pack | head -3
echo "# what cannot be"
try() {
    cellar plan check bad.yaml 2>&1
    echo "exit $?"
}
plan bad.yaml "$one" 'epsilon: 1, delta: 1e-6' discrete-laplace; try
plan bad.yaml "$one" 'epsilon: 1' gaussian; try
plan bad.yaml "$one" 'delta: 1e-6' gaussian; try
plan bad.yaml "$one" 'epsilon: 1, delta: 1e-6' 'gaussian:sigma=3'; try
exit 0
