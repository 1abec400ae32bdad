# SPDX-License-Identifier: GPL-3.0-or-later
# A draft per column, said to be one, and not written over an old list; it serves as a domain.
run() { cellar describe "$DATA/people.csv" --columns region,sex "$@" >/dev/null; echo "exit $?"; }
run --write-codelist region --write-codelist sex=women_and_men.csv
cat region.csv women_and_men.csv
run --write-codelist region
run --write-codelist region --force
run --write-codelist regoin
cellar tabulate "$DATA/people.csv" --by region --domain region.csv
