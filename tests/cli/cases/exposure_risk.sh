# SPDX-License-Identifier: GPL-3.0-or-later
# A sample with weights: the risk of each group, the global risk and the expected re-identifications.
printf 'A,B,C,w\n2,3,1,18\n3,3,3,45.5\n2,3,1,39\n2,3,2,17\n3,3,1,92\n3,3,1,8\n1,4,1,123.5\n2,3,1,51\n' >sample.csv
ask() { cellar exposure table sample.csv --columns A,B,C "$@" 2>/dev/null; }
ask --k 2 --sample-weight w --worst-by risk | sed -n '/^measure.*global/,$p'
ask --k 2 --sample-weight w --json | sed -n '/"reidentification"/,/}/p'
ask --k 2 | grep -c risk
cellar tabulate sample.csv --by A,B,C --weight w -o table.csv 2>/dev/null
cellar exposure table table.csv --columns A,B --k 2 --csv list
refused() {
    cellar exposure "$@" 2>&1
    echo "exit $?"
}
refused table sample.csv --columns A,B --threshold 0.1 --sample-weight w
refused table table.csv --columns A,B --k 2 --sample-weight w
refused bound sample.csv --columns A,B --k 2 --sample-weight w
refused table sample.csv --columns A,B --k 2 --sample-weight v
