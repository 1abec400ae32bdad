# SPDX-License-Identifier: GPL-3.0-or-later
# Cell keys follow from the records: the same every time, and said to be no differential privacy.
printf 'sex,key\nF,0.1\nF,0.25\nM,0.7\nM,0.4\nM,0.3\n' >people.csv
cellar tabulate people.csv --by sex --record-key key --domain "$DATA/lists" -o table.json 2>/dev/null
cellar ptable design --variance 2 --m 3 -o matrix.csv 2>/dev/null >/dev/null
cellar protect table.json --mechanism cell-key:file=matrix.csv --negatives zero -o a.csv
cellar protect table.json --mechanism cell-key:file=matrix.csv --negatives zero --threads 1 -o b.csv 2>/dev/null
cmp a.csv b.csv && echo same
grep -E '"(verdict|source)"' a.csv.cellar.json
# The page and the check of a signature say that nobody can compute this certificate again.
cellar report --public a.csv -o page.html 2>/dev/null
grep -o 'Not computed again[^<]*' page.html
mkdir pack && cp a.csv a.csv.cellar.json page.html pack
cellar key create agency.key >/dev/null && cellar key public agency.key -o agency.pub
cellar sign pack --key agency.key --accept unaccounted >/dev/null 2>&1
cellar verify-release pack --key agency.pub --json 2>/dev/null | grep certificates
