# SPDX-License-Identifier: GPL-3.0-or-later
# A cube is signed like a release, and verified down to its estimates.
printf 'code\nn\ns\n' >region.csv
printf 'code\nF\nM\n' >sex.csv
printf 'region,sex\nn,F\ns,M\n' >p.csv
cat >u.yaml <<END
plan: 1
data: {file: p.csv}
unit: {name: person}
variables:
  - {name: region, codelist: region.csv}
  - {name: sex, codelist: sex.csv}
universe: {file: pack/a.cube, up_to: 2}
budget: {rho: 0.5}
negatives: keep
parameter_choice: advance
ledger: {file: l, dataset: census, request: cube, delta: 1e-6}
END
mkdir pack
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 5 \
    --delta 1e-6 --population 1000 2>/dev/null
cellar key create k >/dev/null 2>&1
cellar key public k -o k.pub
said() {
    sed 's/key [0-9a-f]*/key K/'
}
cellar cube build u.yaml 2>/dev/null
cellar sign pack --key k 2>&1 | said
cellar verify-release pack --key k.pub 2>&1 | said
# Values that were changed before the folder was signed anew are found by the digests of tables.
size=$(stat -c %s pack/a.cube)
{ head -c $((size - 1)) pack/a.cube; printf '\125'; } >changed
cat changed >pack/a.cube
cellar verify-release pack --key k.pub; echo "exit $?"
rm pack/manifest.*
cellar sign pack --key k 2>&1 | said
cellar verify-release pack --key k.pub; echo "exit $?"
# Without a heading, or unpaid, it is not signed.
rm pack/*
printf 'CELLARCUBE\r\n\001\0\0\0\377\377\0\0\0\0\0\0\100\0\0\0\0\0\0\0{}%32s' '' >pack/a.cube
cellar sign pack --key k; echo "exit $?"
rm pack/*
sed '/^ledger/d' u.yaml >unpaid.yaml
cellar cube build unpaid.yaml 2>/dev/null
cellar sign pack --key k; echo "exit $?"
