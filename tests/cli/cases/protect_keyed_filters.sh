# SPDX-License-Identifier: GPL-3.0-or-later
# Two tables of as many people, of whom two are exchanged, share no keyed noise: else their
# difference would be those two. Nor do two conditions that let through the same people.
awk 'BEGIN { print "id,sex,age"; for (i = 1; i <= 500; i++) print i "," substr("FM", i % 2 + 1, 1) "," i * 7 % 99 }' >people.csv
cellar key create my.key --edition 2026 >/dev/null
release() {
    name=$1
    shift
    cellar tabulate people.csv --by sex,age --domain "$DATA/lists/sex.csv" --bottom age=0 --top age=99 \
        --band age=1 "$@" -o $name.json 2>/dev/null
    cellar protect $name.json --mechanism discrete-laplace:epsilon=0.1 --negatives keep --zeros \
        --noise keyed --key my.key --edition 2026 -o $name.csv 2>/dev/null
}
release first --where 'id<=400'
release second --where 'id>1' --where 'id<=401'
release third --where 'id<401'
release fourth --where 'id <= 400.0' --where 'id<=400'
differ() {
    paste $1.csv $2.csv | sed 1d | sed 's/^.*,\(.*\)\t.*,/\1 /' | awk -v pair="$1 and $2" '{ d += $1 != $2 } END {
        print pair ": " (NR == 0 ? "nothing" : d == 0 ? "the same" : d > NR / 2 ? "noise of their own" : "noise shared") }'
}
differ first second
differ first third
differ first fourth
# What does not say what was counted has no keyed noise.
cellar tabulate people.csv --by sex --domain "$DATA/lists/sex.csv" -o table.csv 2>/dev/null
cellar protect table.csv --domain sex="$DATA/lists/sex.csv" --mechanism discrete-laplace:epsilon=0.1 --negatives keep \
    --noise keyed --key my.key --edition 2026 -o refused.csv
