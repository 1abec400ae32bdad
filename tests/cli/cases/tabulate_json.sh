# SPDX-License-Identifier: GPL-3.0-or-later
# The summary; the table is where -o says.
cellar tabulate "$DATA/people.csv" --by region,sex --domain "region=$DATA/lists/region.csv" \
    --margins all --json -o t.csv 2>/dev/null
wc -l <t.csv
