# SPDX-License-Identifier: GPL-3.0-or-later
# A plan that cannot be is refused with the line, the place and the reason.
try() {
    cellar plan check bad.yaml 2>&1
    echo "exit $?"
}
printf 'plan: 1\ndata:\n  fille: x\n' >bad.yaml; try
printf 'plan: 1\ntables:\n  - name: a\n    by: [x]\n  - name: b\n    by: [x]\n    epsilon: none\n' >bad.yaml; try
printf 'plan: 1\ndata: &x [*x, *x]\n' >bad.yaml; try
printf 'plan: 1\n\tdata: 1\n' >bad.yaml; try
head -c 20000 /dev/zero | tr '\0' '[' >bad.yaml; try
head -c 2000000 /dev/zero | tr '\0' 'x' >bad.yaml; try
printf 'plan: \377\n' >bad.yaml; try
# What is found when all has been read still has its line.
good='plan: 1\ndata: {file: x}\nvariables: [{name: x}]\ntables: [{name: a, by: x}]\nmechanism: discrete-laplace\nbudget: {epsilon: 1}\nparameter_choice: advance\n'
printf "$good"'negatives: keep\nthreshold: 3\n' >bad.yaml; try
printf "$good"'negatives: keep\noutputs:\n  folder: out\n  formats: [csv, json, csv]\n' >bad.yaml; try
printf "$good"'negatives: keep\noutputs:\n  folder: out\n  formats: [csv, sdmx]\n' >bad.yaml; try
printf "$good"'negatives: keep\naccept: [bias, noise]\n' >bad.yaml; try
printf "$good"'negatives: keep\nrules:\n  - {evaluate: true, max_empty_share: 20}\n' >bad.yaml; try
printf "$good"'negatives: keep\nrules:\n  - {evaluate: true, max_risk: 0.1, qid: x, sensitive: x}\n' >bad.yaml; try
cellar plan chekc bad.yaml 2>&1; echo "exit $?"
cellar plan 2>&1; echo "exit $?"
cellar plan check none.yaml 2>&1; echo "exit $?"
