# SPDX-License-Identifier: GPL-3.0-or-later
# Several releases of the same people give one interval (unit/pooled has its width).
printf 'code\nF\nM\n' >sex.csv
printf 'code\nN\nS\nE\n' >region.csv
echo sex,region >people.csv
i=0
while [ $i -lt 90 ]; do
    case $((i % 7)) in 0 | 3 | 5) sex=F ;; *) sex=M ;; esac
    case $((i % 3)) in 0) region=N ;; 1) region=S ;; *) region=E ;; esac
    echo $sex,$region
    i=$((i + 1))
done >>people.csv
cellar tabulate people.csv --by sex,region --domain sex=sex.csv --domain region=region.csv -o both.json 2>/dev/null
cellar tabulate people.csv --by sex --domain sex=sex.csv -o sex.json 2>/dev/null
cellar protect both.json --mechanism discrete-laplace:epsilon=0.2 --negatives keep -o cells.json 2>/dev/null
cellar protect sex.json --mechanism discrete-gaussian:sigma=3 --negatives keep --delta 1e-6 --per-cell -o margin.json 2>/dev/null
cellar infer interval cells.json margin.json --of sex=F --json | grep -c -e '"releases": 2' -e '"pooled": "yes"'
try() {
    cellar infer interval "$@" 2>&1
    echo "exit $?"
}
try cells.json margin.json --of sex=F --within ''
try cells.json margin.json --every-cell
try cells.json cells.json --of sex=F
try margin.json cells.json --of sex=F
cellar infer independence cells.json margin.json --rows sex --columns region 2>&1
echo "exit $?"
