# SPDX-License-Identifier: GPL-3.0-or-later
# A table that cannot be printed whole is a failure.
[ -c /dev/full ] || { echo "there is no /dev/full"; exit 77; }
cellar tabulate "$DATA/people.csv" --by region --domain-public 2>&1 >/dev/full | tail -n 1
cellar tabulate "$DATA/people.csv" --by region --domain-public --json >/dev/full 2>/dev/null
echo "exit $?"
cellar describe "$DATA/people.csv" >/dev/full
