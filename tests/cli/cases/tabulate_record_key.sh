# SPDX-License-Identifier: GPL-3.0-or-later
# Integer keys modulo a range, and decimal ones.
sed 's/0\.\([0-9][0-9]\)$/\1/' "$DATA/people.csv" >keys.csv
cellar tabulate keys.csv --by sex --record-key key --key-range 100 --domain-public
cellar tabulate "$DATA/people.csv" --by sex --record-key key --domain-public >/dev/null
echo "decimal keys: $?"
