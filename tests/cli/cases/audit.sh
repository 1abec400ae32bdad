# SPDX-License-Identifier: GPL-3.0-or-later
# What margins give away together, without noise and with it, and what is refused.
printf 'code\na\nb\n' >x.csv
printf 'code\nu\nv\n' >y.csv
printf 'code\np\nq\n' >z.csv
{
    echo x,y,z
    for row in a,u,p a,u,p a,u,q a,v,q b,u,p b,v,p b,v,p b,v,q; do echo $row; done
} >people.csv
count() {
    domains=
    for v in $(echo $1 | tr , ' '); do domains="$domains --domain $v=$v.csv"; done
    cellar tabulate people.csv --by $1 $domains -o $2 2>/dev/null
}
count x,y xy.json
count x,z xz.json
count y,z yz.json
count x,y,z xyz.json
cellar audit --table xy.json --table xz.json --table yz.json --truth xyz.json
cellar audit --table xy.json --table xz.json --csv -o cells.csv && head -3 cells.csv && stat -c %a cells.csv
cellar protect xy.json --mechanism truncated-laplace:epsilon=2,m=1 --negatives keep --per-cell -o r.json 2>/dev/null
cellar audit r.json --json | grep -c '"confidential": false'
cellar audit r.json --table xz.json --json | grep -c '"confidential": true'
try() {
    cellar audit "$@" 2>&1
    echo "exit $?"
}
try
try r.json --confidence 2
try --table xy.json --max-cells 3
sed 's/^b,u,p$/a,u,p/' people.csv >other.csv
cellar tabulate other.csv --by x,y --domain x=x.csv --domain y=y.csv -o other.json 2>/dev/null
try --table xy.json --table other.json
printf 'code\nu\nw\n' >y.csv
printf 'x,y\na,u\nb,w\n' >other.csv
cellar tabulate other.csv --by x,y --domain x=x.csv --domain y=y.csv -o odd.json 2>/dev/null
try --table xy.json --table odd.json
