# SPDX-License-Identifier: GPL-3.0-or-later
# A universe is planned without data, built once, and asked; everything adds.
printf 'code,parent,label\nN,,North\nS,,South\nn1,N,\nn2,N,\ns1,S,\ns2,S,\n' >region.csv
printf 'code\nF\nM\n' >sex.csv
printf 'code\na\nb\nc\n' >edu.csv
cat >u.yaml <<END
plan: 1
title: A tiny cube
data: {file: p.csv}
unit: {name: person}
variables:
  - {name: region, codelist: region.csv, hierarchy: yes}
  - {name: sex, codelist: sex.csv}
  - {name: edu, codelist: edu.csv}
universe:
  file: tiny.cube
  up_to: 2
  tables:
    - {by: [region^1, sex, edu], weight: 2}
    - {by: [sex, edu], largest_sd: 2}
  without: ["region*edu"]
budget: {epsilon: 4, delta: 1e-6}
negatives: keep
parameter_choice: advance
ledger: {file: l, dataset: census, request: cube, delta: 1e-6}
END
short() {
    sed 's/cellar-ledger 1 [0-9a-f]* \([0-9]*\) [0-9a-f]*/STAMP \1/'
}
cellar cube plan u.yaml | sed -n '/^delta 1e-06/p; /^The universe/,$p'
cellar cube compare u.yaml
cellar cube plan u.yaml --json | grep -A7 '"table": "sex x edu"'
awk 'BEGIN { print "region,sex,edu"
    split("n1 n2 s1 s2", r); split("a b c", e)
    for (i = 0; i < 400; i++) print r[i * i % 4 + 1] "," (i % 3 ? "F" : "M") "," e[i % 7 % 3 + 1] }' >p.csv
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 5 \
    --delta 1e-6 --population 1000 2>/dev/null
cellar cube build u.yaml --date 2026-07-01 2>&1 | short
cksum tiny.cube >before
cellar cube build u.yaml --json --date 2026-07-01 | short
cksum tiny.cube | cmp - before && echo "the same"
cellar ledger show l | grep 'was paid'
cellar ledger verify l --against tiny.cube >/dev/null && echo "in the ledger"
stat -c '%a %n' tiny.cube
cellar cube show tiny.cube --verify 2>&1
cellar cube show tiny.cube --json | grep -o '"\(date\|protection\|unit\)": *"[^"]*"'
# Standard errors do not depend on what was drawn.
cellar cube table tiny.cube --by edu,region --level region=1 --margins --interval 0.9 --limit 5 |
    awk '{ print $1, $2, $4, NF }'
cellar cube table tiny.cube --by edu --group edu:ab=a,b --group edu:c=c --margins | awk '{ print $1, $3 }'
cellar cube table tiny.cube --by edu --only edu=c,a | awk '{ print $1, $3 }'
cellar cube table tiny.cube | awk '{ print $1, NF }'
# Stored values add exactly: the same total from three tables, in units of the last decimal.
total() {
    cellar cube table tiny.cube "$@" -o out.csv --force
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "estimate") c = i; next }
        { s = $c; neg = sub(/^-/, "", s); n = split(s, p, "."); f = n > 1 ? substr(p[2] "000000", 1, 6) : "000000"
          sum += (neg ? -1 : 1) * (p[1] * 1000000 + f) } END { printf "%.0f\n", sum }' out.csv
}
total >totals
total --by sex >>totals
total --by region,sex >>totals
total --by edu,region --level region=1 >>totals
sort -u totals | wc -l
head -1 out.csv
cellar cube table tiny.cube --by sex -o out.json && cellar cube table tiny.cube --by sex -o out.px && ls
# Whole numbers: none is negative, and they add within the table, in every format.
cellar cube table tiny.cube --by sex,edu --margins --whole | awk 'NR == 1 { print $1, $2, $3, $4, $5 } /^Whole/'
for format in csv json px; do
    cellar cube table tiny.cube --by sex,edu --margins --whole -o whole.$format
    cellar convert whole.$format -o back-$format.csv 2>/dev/null
    awk -F, 'NR > 1 { if ($3 < 0 || $3 != int($3)) bad++
        if ($1 == "_T" && $2 == "_T") total = $3; else if ($1 != "_T" && $2 != "_T") sum += $3 }
        END { print NR, bad + 0, sum == total }' back-$format.csv
done
for format in sdmx csvw; do
    cellar cube table tiny.cube --by sex,edu --margins --format $format --title "Two" -o $format.csv
    head -1 $format.csv
done
ls csvw.csv*
cellar cube table tiny.cube --by sex --format px -o - | grep '^STUB'
cellar cube table tiny.cube --by sex --format px 2>&1
cellar cube table tiny.cube --by sex --whole --json | grep -c '"whole": [0-9]'
cellar cube table tiny.cube --by sex --whole --interval 0.9 2>&1
echo "exit $?"
cellar cube table tiny.cube --by edu --group edu:ab=a,b --group edu:bc=b,c --whole 2>&1
echo "exit $?"
