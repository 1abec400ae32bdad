# SPDX-License-Identifier: GPL-3.0-or-later
# Few people in a table of 3^10 cells without margins. Lifting negative cells to zero would give more
# than ten times as many people, and all margins would be 4^10 cells. The fit writes the cells that
# were released and holds the estimated total.
awk 'BEGIN { print "a,b,c,d,e,f,g,h,i,j"
    for (n = 0; n < 2000; n++) {
        for (v = 0; v < 10; v++) printf "%s%d", v ? "," : "", (n * (v * v + 7) % 101 % (v + 2) > 0) + (n % (v + 11) == 3)
        print "" } }' >people.csv
awk 'BEGIN { print "code\n0\n1\n2" }' >list.csv
mkdir lists
for v in a b c d e f g h i j; do cp list.csv lists/$v.csv; done
cellar tabulate people.csv --by a,b,c,d,e,f,g,h,i,j --domain lists -o true.json 2>/dev/null
cellar protect true.json --mechanism discrete-laplace:epsilon=1 --negatives keep -o release.csv 2>/dev/null
cellar fit release.csv -o fitted.csv >text
awk -F, 'NR > 1 { sum += $NF; if ($NF < 0) print "negative" } END { print NR - 1, "rows"; print sum }' fitted.csv >sums
awk -F, 'NR > 1 { sum += $NF } END { print sum }' release.csv >released
sed -n 1p sums
test "$(sed -n 2p sums)" = "$(cat released)" && echo "the total is the sum of the released values"
sed -n '1s/[0-9.][0-9.]*\([,.]\)/NUMBER\1/gp' text
cellar fit release.csv --margins all --max-cells 100000 2>&1
echo "exit $?"
