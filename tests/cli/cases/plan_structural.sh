# SPDX-License-Identifier: GPL-3.0-or-later
# Impossible combinations and weights, through the whole of a plan; titles that mean something in Markdown and HTML.
{
    echo id,sex,age,pregnant,w
    for i in 1 2 3 4 5 6 7 8; do
        echo "$i,F,15-49,yes,1.5"
        echo "1$i,F,15-49,no,0.25"
        echo "2$i,M,0-14,no,9"
    done
} >people.csv
printf 'code\nF\nM\n' >sex.csv
printf 'code\n0-14\n15-49\n' >age.csv
printf 'code\nyes\nno\n' >pregnant.csv
printf 'pregnant = yes & sex = M\npregnant = yes & age = 0-14\n' >zeros.txt
cat >plan.yaml <<'END'
plan: 1
title: "Women & <men>, a|b, [x](y) *or* `so`"
data: {file: people.csv, weight: w, max_weight: 2}
unit: {name: person, column: id, max_records: 1}
variables:
  - {name: sex, codelist: sex.csv}
  - {name: age, codelist: age.csv}
  - {name: pregnant, codelist: pregnant.csv}
tables:
  - {name: three, title: "Three_ways <b>", by: [sex, age, pregnant], margins: [sex, total], structural_zeros: zeros.txt}
  - {name: two, by: [sex, age]}
mechanism: discrete-laplace
budget: {epsilon: 4}
negatives: keep
parameter_choice: advance
display: {structural_zero: "."}
outputs: {folder: pack, formats: [csv, json]}
END
cellar plan check plan.yaml
cellar plan check plan.yaml --json | grep structural
# With declared categories neither compare nor check --without-counts needs the data.
mv people.csv away.csv
cellar plan compare plan.yaml
cellar plan check plan.yaml --without-counts | sed -n 2p
mv away.csv people.csv
# With so much epsilon the noise is nothing: the numbers are the sums of weights, clipped and rounded.
sed 's/epsilon: 4/epsilon: 4000/; $a accept: [large-epsilon]' plan.yaml >loud.yaml
cellar plan run loud.yaml
cat pack/three.csv pack/two.csv pack/three.display.csv
sed -n '1p; /data treatment/,/Negative/p' pack/method-note.md
grep -o '<h[12][^>]*>[^/]*' pack/index.html
cellar key create agency.key >/dev/null
cellar key public agency.key -o agency.pub
cellar sign pack --key agency.key --accept large-epsilon --accept unaccounted 2>&1 >/dev/null
cellar verify-release pack --key agency.pub | cut -d, -f1
ln -s pack link
cellar verify-release link --key agency.pub 2>&1
echo "exit $?"
# A record where there can be none stops everything, without telling who.
echo 99,M,0-14,yes,1 >>people.csv
sed 's/folder: pack/folder: other/' plan.yaml >other.yaml
cellar plan run other.yaml 2>&1
echo "exit $?"
