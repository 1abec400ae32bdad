# SPDX-License-Identifier: GPL-3.0-or-later
# On a terminal the table is for people, and control characters in labels do not reach it.
script -qec true /dev/null >/dev/null 2>&1 || { echo "script(1) cannot make a terminal"; exit 77; }
printf 'a\n\033[31mred\nblue\n' >colours.csv
script -qec 'NO_COLOR=1 cellar tabulate colours.csv --by a --domain-public 2>/dev/null' /dev/null | tr -d '\r'
