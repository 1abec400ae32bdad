# SPDX-License-Identifier: GPL-3.0-or-later
# Each format by the ending and by name; all of mode 0600, none replaced without --force.
run() { cellar tabulate "$DATA/people.csv" --by region,sex --domain-public "$@" 2>/dev/null; }
run -o t.csv && run -o t.json && run -o t.px && run -o sdmx.csv --format sdmx &&
    run -o w.csv --format csvw && run -o sparse.json --sparse
stat -c '%a %n' *
cmp t.csv w.csv && grep -c w.csv w.csv-metadata.json
head -n 3 sdmx.csv
grep -o CHARSET t.px | head -n 1
run --format json | cmp - t.json && run --format=px -o - | cmp - t.px && echo the same
