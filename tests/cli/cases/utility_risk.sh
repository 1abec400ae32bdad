# SPDX-License-Identifier: GPL-3.0-or-later
# Risk beside utility: the same numbers as cellar risk gives, at every point of the grid.
printf 'region,sex,health,count\nn,f,ok,5\nn,f,ill,1\nn,m,ok,3\ns,f,ill,4\ns,m,ok,1\ns,m,ill,1\n' >t.csv
utility="cellar utility t.csv --copies 0 --mechanism"
grid="laplace --mechanism truncated-laplace --epsilon 0.5,2 --delta 0.001"
$utility $grid --qid region,sex --sensitive health --csv results >chart.csv
awk -F, '$1 ~ /"l1"/ { printf "%s %s %.6f %.6f %.6f %.6f\n", $2, $3, $5, $6, $7, $8 }' FS=',' chart.csv |
    head -2
for epsilon in 0.5 2; do
    cellar risk table t.csv --mechanism laplace:epsilon=$epsilon --qid region,sex --sensitive health --csv |
        awk -F, 'NR > 1 { printf "%s %.6f\n", $1, $6 }'
done
$utility $grid --qid region,sex --sensitive health --json |
    awk '/"risks"/ { on = 1 } on && /"measure"/ { n++ } END { print n, "risks" }'
$utility laplace:epsilon=1 --qid sex --sensitive health | grep -A2 precision
$utility laplace:epsilon=1 --qid sex --sensitive health | grep '^risks'
say() { $utility "$@" 2>&1 | tail -1; }
say laplace:epsilon=1 --qid sex
say laplace:epsilon=1 --qid sex --sensitive sex
say laplace:epsilon=1 --qid sx --sensitive health
say laplace:epsilon=1 --qid sex --sensitive health --negatives zero --threshold 3
say multinomial-dirichlet:alpha=1 --qid sex --sensitive health
