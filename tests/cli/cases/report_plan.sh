# SPDX-License-Identifier: GPL-3.0-or-later
# The committee's page about a plan assesses what the plan releases, and nothing else.
cat >plan.yaml <<END
plan: 1
title: A & B
data: {file: $DATA/people.csv, missing_as: drop}
unit: {name: household}
variables:
  - {name: region, codelist: $DATA/lists/region.csv}
  - {name: sex, codelist: $DATA/lists/sex.csv}
tables:
  - {name: both, by: [region, sex], margins: [region, total]}
  - {name: one, by: [sex], weight: 3}
mechanism: discrete-laplace
budget: {epsilon: 1, split: weights}
negatives: keep
parameter_choice: data
outputs: {folder: pack, formats: [csv]}
END
report="cellar report --plan plan.yaml --qid region --sensitive sex --copies 5"
$report -o page.html
python3 "$DATA/../check_page.py" page.html --words
stat -c '%a %n' page.html
grep -o '<h2 id="[a-z0-9-]*">[^<]*' page.html
grep -o '[A-Z][a-z]* releases together are[^(]*([a-z -]*)' page.html
grep -o 'Unit</dt><dd>[^<]*' page.html
grep -o 'One record lies in[^.]*' page.html
grep -o 'The parameters were chosen[^.]*' page.html
echo "# the mechanisms are the plan's, and their epsilon is marked"
cellar plan check plan.yaml --json | python3 -c 'import json, sys
for table in json.load(sys.stdin)["tables"]: print(table["name"], table["mechanism"])'
grep -o '<th scope="row">[a-z]*</th><td class="n">[0-9]*</td><td class="n">[0-9]*</td><td>[^<]*</td><td class="n">[^<]*' page.html
grep -o 'planned: epsilon [0-9.]*' page.html | sort | uniq -c
grep -o '[0-9.]* (planned)' page.html | sort -u
echo "# the attack is on tables that have its columns"
grep -c 'the attack cannot use this table' page.html
$report --threads 1 -o one.html && cmp page.html one.html && echo "the same with one thread"
echo "# wrong use"
$report --mechanism identity -o x.html 2>&1
$report plan.yaml -o x.html 2>&1
cellar report --plan plan.yaml --qid region 2>&1
cellar report --plan plan.yaml --qid regoin --sensitive sex -o x.html 2>&1
cellar report --plan nowhere.yaml --qid region --sensitive sex -o x.html 2>&1
$report -o page.html 2>&1
$report -o plan.yaml --force 2>&1
ls
exit 0
