# SPDX-License-Identifier: GPL-3.0-or-later
# Two-way margins of a table of 10^4 cells, as in section 7 of Rinott and others 2018: 14/epsilon added
# up from the interior, 8.5/epsilon alone, 21/epsilon when everything is released.
echo a,b,c,d >data.csv
echo 0,0,0,0 >>data.csv
{ echo code; seq 0 9; } >ten.csv
cat >plan.yaml <<END
plan: 1
data: {file: data.csv}
variables:
  - {name: a, codelist: ten.csv}
  - {name: b, codelist: ten.csv}
  - {name: c, codelist: ten.csv}
  - {name: d, codelist: ten.csv}
tables:
  - {name: t, by: [a, b, c, d], margins: [a*b, a*c, a*d, b*c, b*d, c*d]}
mechanism: discrete-laplace
budget: {epsilon: 0.01}
negatives: keep
parameter_choice: advance
END
cellar plan compare plan.yaml
cellar plan compare plan.yaml --json | grep -E '"(name|epsilon|recommended|cells_per_record)"'
# Without a budget there is nothing to compare.
sed 's/mechanism: .*/mechanism: discrete-laplace:epsilon=1/; /budget:/d' plan.yaml >none.yaml
cellar plan compare none.yaml 2>&1
echo "exit $?"
