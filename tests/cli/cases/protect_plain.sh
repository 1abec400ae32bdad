# SPDX-License-Identifier: GPL-3.0-or-later
# The identity shows what is written: the release, and beside it what it means.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" -o table.json 2>/dev/null
cellar protect table.json --mechanism identity --accept no-protection --negatives keep --date 2026-07-01 -o out.csv
cat out.csv
stat -c '%a %n' out.csv out.csv.cellar.json
grep -E '"(verdict|ledger|date|source|spec)"' out.csv.cellar.json
