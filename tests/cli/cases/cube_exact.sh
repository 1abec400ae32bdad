# SPDX-License-Identifier: GPL-3.0-or-later
# Under substitution the total and the tables that the plan names are published as they were counted.
printf 'code,parent\nN,\nS,\nn1,N\nn2,N\ns1,S\ns2,S\n' >region.csv
printf 'code\nF\nM\n' >sex.csv
universe() {
    cat <<END
plan: 1
data: {file: p.csv}
unit: {name: person}
neighbours: $1
variables:
  - {name: region, codelist: region.csv, hierarchy: yes}
  - {name: sex, codelist: sex.csv}
universe: {file: exact.cube, up_to: 2, invariants: [$2]}
budget: {rho: 0.5}
negatives: keep
parameter_choice: advance
END
}
awk 'BEGIN { print "region,sex"; split("n1 n2 s1 s2", r)
    for (i = 0; i < 400; i++) print r[i * 7 % 11 % 4 + 1] "," (i % 3 ? "F" : "M") }' >p.csv
universe substitute region >u.yaml
cellar cube plan u.yaml | grep '^invariant'
cellar cube compare u.yaml
cellar cube build u.yaml 2>&1
cellar cube show exact.cube --verify 2>&1 | tail -1
# the same as counting
cellar cube table exact.cube --by region --margins
tail -n +2 p.csv | cut -d, -f1 | sort | uniq -c | awk '{ print $2, $1 }'
# whole numbers keep what is exact
cellar cube table exact.cube --by region,sex --margins --whole --limit 0 | awk '$2 == "_T" { print $1, $5 }'
universe add-remove region >bad.yaml
cellar cube plan bad.yaml 2>&1
echo "exit $?"
universe substitute "'region*sex'" >bad.yaml
cellar cube plan bad.yaml 2>&1
echo "exit $?"
