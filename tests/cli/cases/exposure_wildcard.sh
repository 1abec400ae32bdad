# SPDX-License-Identifier: GPL-3.0-or-later
# Missing values as wildcards: the curve takes them for a level, the groups for a wildcard, and each
# says so. Weights are not used, which is said too.
printf 'a,b,c,w\n1,1,1,2\n1,,1,2\n1,1,2,2\n2,1,,2\n2,2,1,2\n2,2,2,2\n,2,1,2\n' >records.csv
cellar exposure table records.csv --columns a,b,c --k 2 --threshold 0.3 --missing-as wildcard
cellar exposure table records.csv --columns a,b,c --k 2 --missing-as level | grep -c 'level$'
cellar tabulate records.csv --by a,b --missing-as drop --weight w -o table.json 2>/dev/null
cellar exposure table table.json --columns a --k 2 2>&1 | head -1
cellar exposure bound table.json --columns a,b --threshold 0.3 2>&1 | head -1
cellar risk table table.json --qid a --sensitive b --mechanism discrete-laplace:epsilon=1 2>&1 | head -1
echo "# one column otherwise than the others; a declared category of missing values is a wildcard too"
printf 'sex,age,ill\nF,1,y\nM,1,n\n,1,y\nF,2,n\nF,,y\n' >people.csv
printf 'code,role\nF,\nM,\n9,unknown\n' >sex.csv
ask() {
    echo "$*:" $(cellar exposure table people.csv --columns sex,age --k 2 "$@" --csv list 2>/dev/null | cut -d, -f2-) \
        "$(cellar exposure table people.csv --columns sex,age --k 2 "$@" 2>&1 | sed -n '2s/.*people.csv: //p; s/^cellar: --//p')"
}
ask --missing-as sex=wildcard --missing-as age=level
ask --missing-as wildcard --missing-as age=drop
ask --missing-as level --missing-as sex=drop
ask --missing-as sex=wildcard --missing-as age=level --domain sex=sex.csv
ask --missing-as level --missing-as ill=wildcard --sensitive ill
ask --missing-as level --missing-as agee=drop
ask --missing-as level --missing-as drop
ask --missing-as age=joker
cellar exposure table people.csv --columns sex,age --k 2 --missing-as level --missing-as age=drop --json 2>/dev/null | grep '"missing"'
risk() { cellar risk table people.csv --qid sex,age --sensitive ill --mechanism laplace:epsilon=1 "$@" 2>&1 | sed -n '1p; /^groups/{n;p;}'; }
risk --missing-as level --missing-as sex=drop
risk --missing-as wildcard
risk --missing-as q=drop
