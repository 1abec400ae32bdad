# SPDX-License-Identifier: GPL-3.0-or-later
# Files that are not what was promised: one sentence each, exit status 1, nothing on stdout.
cd "$DATA" || exit 1
try() { echo "$ $*"; cellar "$@" 2>&1; echo "exit $?"; }
for verb in tabulate describe; do
    try $verb absent.csv --by region
    try $verb people.csv --by regoin
    try $verb empty.csv --by region
    try $verb duplicate.csv --by region
    try $verb quoting.csv --by region
    try $verb nul.csv --by sex
    try $verb lists --by region
done
try tabulate header_only.csv --by region
try tabulate people.csv --by region --where 'nonsense'
try tabulate people.csv --by region --where 'absent=1'
try tabulate people.csv --by region --unit absent --max-per-unit 1
try tabulate people.csv --by region --domain region=absent.csv
try tabulate people.csv --by region --domain region=people.csv
try tabulate people.csv --by region --recode region=absent.csv
try tabulate people.csv --by region --structural-zeros people.csv
