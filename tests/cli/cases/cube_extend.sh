# SPDX-License-Identifier: GPL-3.0-or-later
# More tables for a published cube: two charges in one ledger, one certificate of both.
printf 'code\nn\ns\n' >region.csv
printf 'code\nF\nM\n' >sex.csv
awk 'BEGIN { print "region,sex"; for (i = 0; i < 400; i++) print (i % 3 ? "n" : "s") "," (i % 2 ? "F" : "M") }' >p.csv
plan() { # the universe, the request, the rho
    cat <<END
plan: 1
data: {file: p.csv}
unit: {name: person}
variables:
  - {name: region, codelist: region.csv}
  - {name: sex, codelist: sex.csv}
universe: {$1}
budget: {rho: $3}
negatives: keep
parameter_choice: advance
ledger: {file: l, dataset: ${4:-census}, request: $2, delta: 1e-6}
END
}
try() {
    cellar "$@" 2>&1 | sed 's/cellar-ledger 1 .*/STAMP/'
}
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 9 --delta 1e-5 --population 1000 2>/dev/null
cellar ledger add l --dataset other --unit person --neighbours add-remove --epsilon 9 --delta 1e-5 --population 1000 >/dev/null 2>&1
plan 'file: a.cube, up_to: 1' first 0.1 >a.yaml
plan 'file: b.cube, extends: a.cube, tables: [{by: [region, sex]}]' second 0.05 >b.yaml
try cube build a.yaml
cellar cube plan b.yaml | sed -n '/^rho/p; /^This is/p; /^The new/p; /^The universe/,/^Standard/p'
try cube build b.yaml
try cube build b.yaml
cellar cube show b.cube --verify >/dev/null 2>&1; echo "verified $?"
cellar cube show b.cube --json | tr ',' '\n' | sed -n 's/.*"ledger":"cellar-ledger.*/charged/p; s/.*\("measured_tables":[0-9]*\).*/\1/p'
cellar ledger show l 2>/dev/null | grep -o '[0-9]* requests were paid for'
echo '-- refused'
try cube build a.yaml
plan 'file: c.cube, extends: a.cube, tables: [{by: [region, sex]}]' third 0.05 other >c.yaml
try cube build c.yaml
sed '/^ledger/d' c.yaml >d.yaml
try cube build d.yaml
sed '/^ledger/d; s/file: a.cube/file: free.cube/' a.yaml >free.yaml
try cube build free.yaml
sed 's/a.cube/free.cube/' b.yaml | sed 's/b.cube/e.cube/; s/second/fourth/' >e.yaml
try cube build e.yaml
sed 's/^data:.*/data: {file: p.csv, where: ["sex=F"]}/; s/b.cube/e.cube/; s/second/fifth/' b.yaml >f.yaml
try cube build f.yaml
plan 'file: e.cube, extends: b.cube, up_to: 2' sixth 0.05 >g.yaml
try cube build g.yaml
plan 'file: e.cube, extends: nothing.cube, up_to: 2' sixth 0.05 >g.yaml
try cube build g.yaml
ls *.cube
