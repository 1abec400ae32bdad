# SPDX-License-Identifier: GPL-3.0-or-later
# A run pays, draws and lets the pack appear; asked again, it finds it; over the cap there is nothing.
cat >plan.yaml <<END
plan: 1
title: A small list
data: {file: $DATA/people.csv, missing_as: drop}
unit: {name: person}
variables:
  - {name: region, codelist: $DATA/lists/region.csv}
  - {name: sex, codelist: $DATA/lists/sex.csv}
tables:
  - {name: both, title: Regions and sexes, by: [region, sex], margins: [region]}
  - {name: one, by: [sex]}
mechanism: discrete-laplace
budget: {epsilon: 1}
negatives: keep
parameter_choice: advance
rules:
  - {evaluate: true, max_cells: 100}
  - {evaluate: released, max_empty_share: 1}
display: {rounding: 3}
outputs: {folder: pack, formats: [csv, json, px]}
ledger: {file: l, dataset: census, request: one}
END
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 1.5 \
    --delta 1e-6 --population 1000 2>/dev/null
try() {
    echo "-- $*"
    cellar plan run "$@" 2>&1 | sed 's/cellar-ledger 1 [0-9a-f]* \([0-9]*\) [0-9a-f]*/STAMP \1/; s/....-..-..T..:..:..Z/TIME/; s|/[^ ]*/||'
}
try plan.yaml
(cd pack && ls && sha256sum -c --quiet manifest.sha256 && stat -c '%a %n' . one.csv certificate.json)
cksum pack/* >before
try plan.yaml --json
cksum pack/* | cmp - before && echo "the same"
cellar ledger verify l --against pack | sed 1d
cellar ledger show l --json | grep '"epsilon"'
sed '/^## Accounting/,$d' pack/method-note.md
grep -A12 '"rules"' pack/certificate.json
# Over the cap, under a known request, in a place that is taken.
sed 's/request: one/request: two/; s/folder: pack/folder: other/' plan.yaml >two.yaml
try two.yaml
sed 's/title: A small/title: A larger/' plan.yaml >changed.yaml
try changed.yaml
sed 's/epsilon: 1}/epsilon: 0.5}/; s/request: one/request: three/' plan.yaml >taken.yaml
try taken.yaml
# Several at once without a ledger: one pack, whole, and nothing beside it.
sed 's/folder: pack/folder: shared/; /ledger:/d' plan.yaml >shared.yaml
for i in 1 2 3 4; do cellar plan run shared.yaml 2>>said & done
wait
grep -c 'is there' said
(cd shared && ls | wc -l && sha256sum -c --quiet manifest.sha256)
grep -o '[A-Z][a-z]* releases together[^<]*' shared/index.html
grep -o "cellar infer interval [^ ]*" shared/index.html
rm said
# A rule that refuses, and what would help.
sed 's/max_cells: 100/max_cells: 11/; s/folder: pack/folder: other/; /ledger:/d' plan.yaml >ruled.yaml
try ruled.yaml
cellar plan run ruled.yaml 2>/dev/null
echo "exit $?"
ls -A
