# SPDX-License-Identifier: GPL-3.0-or-later
# The example plan is a plan, and runs.
cp -r "$SOURCE/examples/plans" "$SOURCE/examples/codelists" .
awk 'BEGIN { print "id,region,sex,age,diagnosis"
    split("Harbour Plain Hills Lakes Skerries", r)
    for (i = 1; i <= 300; i++) print i "," r[i * i % 5 + 1] "," (i % 2 ? "F" : "M") "," i % 95 ",None" }' >people.csv
cellar plan check plans/small_country.yaml >/dev/null && echo checked
cellar plan compare plans/small_country.yaml >/dev/null && echo compared
sed '/^ledger:/,$d' plans/small_country.yaml >plans/unpaid.yaml # the tutorial makes the ledger
cellar cube plan plans/small_country_cube.yaml >/dev/null && echo planned
cellar plan run plans/unpaid.yaml 2>/dev/null && echo done
