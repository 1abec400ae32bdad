# SPDX-License-Identifier: GPL-3.0-or-later
# A small table: measures, averages, several sensitive columns, groups, calibration.
cat >table.csv <<END
region,sex,illness,job,count
n,f,none,a,5
n,f,flu,a,1
n,m,none,a,3
n,m,none,b,2
s,f,flu,b,4
s,m,none,a,1
s,m,flu,b,1
END
risk="cellar risk table table.csv --qid region,sex --mechanism"
$risk laplace:epsilon=1 --sensitive illness
$risk laplace --epsilon 0.1,1 --sensitive illness --measure all --average person --csv |
    cut -d, -f1-6 | awk -F, 'NR > 1 { printf "%s,%s,%.6f\n", $1, $3, $6; next } { print }'
$risk laplace:epsilon=1 --sensitive illness,job --measure local --json |
    sed -n 's/^ *"\(groups\|homogeneous\|partially_homogeneous\|levels\|sensitive\|lower_bound\)": \(.*\)/\1 \2/p'
$risk laplace:epsilon=1 --sensitive illness --groups groups.csv --measure local >/dev/null
cut -c-30 groups.csv
stat -c %a groups.csv
$risk laplace:epsilon=1 --sensitive illness --groups groups.csv >/dev/null
echo "existing file: $?"
$risk laplace --sensitive illness --measure local --target 0.4
$risk laplace --sensitive illness --measure local --target 0.1 --vary epsilon=0.01..10 | tail -5
$risk multinomial-dirichlet:alpha=1 --sensitive illness | sed -n '6,12p' | cut -c-60
$risk laplace:epsilon=1 --sensitive illness --measure local,hard --method simulate --copies 50 --seed 3 \
    --threads 1 --json >one
$risk laplace:epsilon=1 --sensitive illness --measure local,hard --method simulate --copies 50 --seed 3 \
    --threads 2 --json >two
cmp one two && echo "threads change nothing"
$risk laplace:epsilon=1 --sensitive illness -o out.json --json && stat -c %a out.json
$risk laplace:epsilon=1 --sensitive illness --method exact,published | cut -c-70
$risk laplace:epsilon=1 --sensitive illness --measure local --method published 2>&1
echo "exit $?"
