# SPDX-License-Identifier: GPL-3.0-or-later
# A golden plan: what it costs, and what every cell and margin will carry.
cat >plan.yaml <<END
plan: 1
title: A small list
data: {file: $DATA/people.csv, missing_as: drop}
unit: {name: person}
variables:
  - {name: region, codelist: $DATA/lists/region.csv}
  - {name: sex, codelist: $DATA/lists/sex.csv}
tables:
  - {name: both, by: [region, sex], margins: [region, total]}
  - {name: one, by: [sex], weight: 3}
mechanism: discrete-laplace
budget: {epsilon: 1, split: weights}
negatives: keep
parameter_choice: advance
outputs: {folder: pack, formats: [csv]}
END
cellar plan check plan.yaml
echo "exit $?"
cellar plan check plan.yaml --without-counts --json | sed -E 's/([0-9]\.[0-9]{6})[0-9]+/\1/'
# Zeros made of negatives bias what is added up: refused, unless it is accepted.
sed 's/negatives: keep/negatives: zero/; s/epsilon: 1/epsilon: 0.1/; s/margins: .*]/margins: none/' plan.yaml >biased.yaml
cellar plan check biased.yaml 2>&1 >/dev/null
echo "exit $?"
echo 'accept: [bias]' >>biased.yaml
cellar plan check biased.yaml | grep note
echo "exit $?"
# Noise that costs rho, and units of several records.
sed 's/mechanism: .*/mechanism: discrete-gaussian/; s/budget: .*/budget: {rho: 0.01}/' plan.yaml >rho.yaml
cellar plan check rho.yaml | grep -E 'rho|for each'
