#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Eight processes count an eighth of the rows each, at the same time, and `cellar merge` adds up their
# tables: byte for byte the table that one process counts of all rows. Nothing but tables is stored.
#
# usage: partials.sh CELLAR MAKE_PEOPLE ROWS
set -eu
cellar=$(realpath "$1") make_people=$(realpath "$2") rows=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
columns=area,sex,age,occupation,industry
"$make_people" 1000000 > sample.csv
i=0
for column in $(echo $columns | tr , ' '); do
    i=$((i + 1))
    { echo code; tail -n +2 sample.csv | cut -d, -f$i | sort -u; } > "$column.csv"
    domains="${domains:-} --domain $column=$column.csv"
done
rm sample.csv
count="$cellar tabulate - --by $columns $domains --sparse"
export columns count

began=$(date +%s)
"$make_people" "$rows" | tail -n +2 |
    split -n r/8 --filter='{ echo $columns; cat; } | $count -o $FILE.json 2>> counted' - part-
[ "$(grep -c "rows read" counted)" -eq 8 ]
parts=$(date +%s)
"$cellar" merge part-*.json --sparse -o merged.json
merged=$(date +%s)
"$make_people" "$rows" | $count -o one.json 2> all
grep -q "$rows rows read, $rows counted" all
cmp merged.json one.json
echo "$rows rows: 8 processes $((parts - began)) s, merge $((merged - parts)) s, one process" \
    "$(($(date +%s) - merged)) s: the same $(wc -c < one.json) bytes"
