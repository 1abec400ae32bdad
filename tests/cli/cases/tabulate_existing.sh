# SPDX-License-Identifier: GPL-3.0-or-later
# Nothing is replaced, and no link followed, without --force; then it is.
echo precious >t.csv
ln -s t.csv link.csv
run() { cellar tabulate "$DATA/people.csv" --by sex --domain-public "$@"; echo "exit $?"; }
run -o t.csv
run -o link.csv
cat t.csv
run -o t.csv --force
cat t.csv
