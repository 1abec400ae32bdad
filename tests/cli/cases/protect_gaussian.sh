# SPDX-License-Identifier: GPL-3.0-or-later
# A total epsilon and a delta find sigma: the smallest of four digits whose certificate keeps both.
printf 'a,b\n1,x\n1,y\n2,x\n' >people.csv
printf 'code\n1\n2\n' >a.csv
printf 'code\nx\ny\n' >b.csv
cellar tabulate people.csv --by a,b --domain a.csv --domain b.csv --margins all -o t.json 2>/dev/null
epsilon() { # SPEC CELLS DELTA: the proven epsilon, rounded up at the sixth digit
    cellar certify "$1" --cells "$2" --delta "$3" $4 --json | python3 -c '
import json, sys
print("at most" if json.load(sys.stdin)["epsilon_at"][0]["epsilon"] <= float(sys.argv[1]) else "above", sys.argv[1])' "$5"
}
cellar protect t.json --mechanism gaussian --total-epsilon 1 --delta 1e-6 --negatives keep -o 1.csv 2>&1 | head -n 1
epsilon gaussian:sigma=8.446 4 1e-6 "" 1
epsilon gaussian:sigma=8.445 4 1e-6 "" 1
cellar protect t.json --mechanism discrete-gaussian --total-epsilon 2 --delta 1e-9 --neighbours substitute \
    --negatives keep -o 2.csv 2>&1 | head -n 1
# forecasts come from true counts: only on request
cellar protect t.json --mechanism gaussian --total-epsilon 1 --delta 1e-6 --negatives keep -o 3.csv 2>&1 |
    grep -c confidential
cellar protect t.json --mechanism gaussian --total-epsilon 1 --delta 1e-6 --negatives keep -o 4.csv --forecast 2>&1 |
    grep -c confidential
cellar protect t.json --mechanism laplace --total-epsilon 1 --negatives keep -o 5.csv --json 2>/dev/null | grep -c expected
cellar -V >/dev/null && cellar help help | head -n 1
