# SPDX-License-Identifier: GPL-3.0-or-later
[ "$(id -u)" -ne 0 ] || { echo "root may read everything"; exit 77; }
cp "$DATA/people.csv" locked.csv
chmod 000 locked.csv
cellar tabulate locked.csv --by region
echo "exit $?"
mkdir closed && chmod 500 closed
cellar tabulate "$DATA/people.csv" --by sex --domain-public -o closed/t.csv
