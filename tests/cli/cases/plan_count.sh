# SPDX-License-Identifier: GPL-3.0-or-later
# A plan for rows that stand for several records, whose small values are suppressed.
printf 'code\nnorth\nsouth\nwest\n' >district.csv
printf 'code\nf\nm\n' >sex.csv
plan() { # lines that differ: data, unit, threshold
    cat <<END
plan: 1
data: {file: ${4:-$DATA/aggregated.csv}$1}
unit: {name: person$2}
variables:
  - {name: district, codelist: district.csv}
  - {name: sex, codelist: sex.csv}
tables: [{name: both, by: [district, sex]}]
mechanism: discrete-laplace
budget: {epsilon: 9}
negatives: zero
$3
parameter_choice: advance
accept: [bias]
display: {suppressed: ":"}
outputs: {folder: pack, formats: [csv, px]}
ledger: {file: l, dataset: census, request: one}
END
}
try() {
    cellar plan "$@" 2>&1 | grep -E 'count|suppress|threshold|stand' | sed "s|$DATA/||g"
}
echo "refused:"
plan "" "" "threshold: 5" >plan.yaml && try check plan.yaml
plan ", count: Freq" ", column: sex, max_records: 1" "threshold: 5" >plan.yaml && try check plan.yaml
plan ", count: Freq" "" "below: suppress" >plan.yaml && try check plan.yaml
echo "a column n:"
sed 's/"Freq"/n/; s/,0$/,1/' "$DATA/aggregated.csv" >n.csv
plan "" "" "threshold: 5" n.csv >plan.yaml && try check plan.yaml
plan ", count: none" "" "threshold: 5" n.csv >plan.yaml && try check plan.yaml
echo "run:"
plan ", count: Freq" "" "{threshold: 5, below: suppress}" | sed 's/^{\(.*\), \(.*\)}$/\1\n\2/' >plan.yaml
try check plan.yaml
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 20 --delta 1e-6 \
    --population 1000 2>/dev/null
cellar plan run plan.yaml >/dev/null 2>message || cat message
grep west pack/both.csv pack/both.display.csv
sed -n '/^DATA=/,$p' pack/both.px | grep -c '"..." "..."'
grep -o 'Values below.*' pack/method-note.md
