# SPDX-License-Identifier: GPL-3.0-or-later
# Seeded copies of a table, the same with any number of threads, beside exact expectations.
printf 'sex,job,count\nf,yes,12\nf,no,3\nm,yes,9\nm,no,0\n' >table.csv
ask() { cellar utility table.csv --mechanism discrete-laplace:epsilon=1 --counts 0,3 --within 0,1 --ways 1 "$@"; }
ask --copies 4 --top 2
ask --copies 4 --threads 3 --json >three.json
ask --copies 4 --threads 1 --json >one.json
cmp three.json one.json && echo the same
sed -n '/"original": {/,/}/p' one.json
ask --copies 0 --json | grep -c '"mean": null'
ask --copies 2 --negatives zero --csv results -o out.csv && stat -c %a out.csv && head -3 out.csv
ask --copies 2 --negatives zero --csv spreads
ask --copies 2 -o out.csv || echo "$?: not replaced"
