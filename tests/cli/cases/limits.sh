# SPDX-License-Identifier: GPL-3.0-or-later
# A small gzip file cannot make the program hold gigabytes; the message names what raises the limit.
line() { head -c "$2" /dev/zero | tr '\0' "$1"; }
try() { echo "$ $*"; cellar "$@" 2>&1; echo "exit $?"; }
{ line , 200000000; echo; } | gzip >columns.csv.gz
{ echo a; line x 200000000; echo; } | gzip >row.csv.gz
{ echo a; echo '"'; line '\n' 200000000; } | gzip >quote.csv.gz
{ printf a; seq -f ,c%g 200000 | tr -d '\n'; echo; } >many.csv
{ echo a; line x 12000000; echo; } >long.csv
try describe columns.csv.gz
try describe row.csv.gz
try describe quote.csv.gz
try describe many.csv
try describe many.csv --max-columns 10
try describe long.csv
cellar tabulate long.csv --by a --max-row-mib 16 2>/dev/null | wc -c
