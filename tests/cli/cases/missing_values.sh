# SPDX-License-Identifier: GPL-3.0-or-later
# Missing values by variable, in drafts of code lists, and in domains that a recode implies.
printf 'sex,income,age\nF,1,20\n,2,30\nNA,3,\nM,.,70\n' >gaps.csv
echo "# describe names what to write"
cellar describe gaps.csv --write-codelist sex=draft.csv 2>/dev/null | sed -n '/values are/,$p'
cellar describe gaps.csv --missing NA --columns sex --write-codelist sex 2>/dev/null >/dev/null
cat sex.csv
echo "# a level for one variable, dropped for another"
cellar tabulate gaps.csv --by sex,income --missing NA --missing . --missing-as level --missing-as income=drop \
    --domain sex.csv 2>/dev/null
echo "# a banded variable stays declared"
cellar tabulate gaps.csv --by age --missing-as level --bottom age=20 --top age=60 --band age=20 --json -o t.json 2>/dev/null |
    grep -e '"domain"' -e '"categories"'
cellar tabulate gaps.csv --by age --missing-as level --bottom age=20 --top age=60 --band age=20 --zeros 2>/dev/null
echo "# the same in a plan"
printf 'code,role\n1,\n2,\n3,\n' >income.csv
sed -i '1s/reviewed-by:.*/reviewed-by: A. Reviewer/' sex.csv
cat >plan.yaml <<END
plan: 1
data: {file: gaps.csv, missing: [NA, .], missing_as: level}
unit: {name: person}
variables:
  - {name: sex, codelist: sex.csv}
  - {name: income, codelist: income.csv}
tables:
  - {name: t, by: [sex, income]}
mechanism: discrete-laplace
budget: {epsilon: 1}
negatives: keep
parameter_choice: advance
outputs: {folder: pack, formats: [csv]}
END
cellar plan check plan.yaml 2>&1 | head -n 1
sed -i 's/codelist: income.csv/codelist: income.csv, missing_as: drop/' plan.yaml
cellar plan check plan.yaml >checked 2>&1
echo "exit $?"
