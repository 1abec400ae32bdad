# SPDX-License-Identifier: GPL-3.0-or-later
# Record keys derived from an identifier: no two runs differ, and without the key file nothing goes.
printf 'id,sex\n17,f\n18,m\n19,f\n' >people.csv
cellar key create secret >/dev/null
cellar tabulate people.csv --by sex --record-id id --key secret --key-range 4096 -o one.csv 2>/dev/null
cellar tabulate people.csv --by sex --record-id id --key secret --key-range 4096 -o two.csv 2>/dev/null
cmp one.csv two.csv && head -1 one.csv
chmod 644 secret
cellar tabulate people.csv --by sex --record-id id --key secret >/dev/null 2>&1
echo "a key others can read: $?"
cellar tabulate people.csv --by sex --record-id id 2>&1
cellar tabulate people.csv --by sex --record-key id --record-id id --key secret 2>&1
