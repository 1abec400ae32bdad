# SPDX-License-Identifier: GPL-3.0-or-later
# Records and a table of the same people give the same answers; missing values as they are declared.
printf 'region,sex,health\n' >people.csv
for i in 1 2 3 4; do printf 'north,f,good\nnorth,m,poor\nsouth,f,good\n'; done >>people.csv
printf 'south,m,good\nsouth,m,fair\n,f,good\nnorth,,fair\n' >>people.csv
ask() { cellar exposure table "$1" --columns region,sex --k 3 --threshold 0.25 $2 2>/dev/null; }
cellar exposure table people.csv --columns region,sex --k 3 2>&1 # nobody said what missing means
ask people.csv '--missing-as drop --json'
ask people.csv '--missing-as level --sensitive health --diversity-c 2'
ask people.csv '--missing-as wildcard --csv list'
cellar tabulate people.csv --by region,sex,health --missing-as level -o table.csv 2>/dev/null
ask people.csv '--missing-as level --sensitive health --csv results --curve' >records.csv
ask table.csv '--missing-as level --sensitive health --csv results --curve' >table.out
cmp records.csv table.out && echo the same
ask people.csv '--missing-as level -o out.json --json' && stat -c %a out.json
ask people.csv '--missing-as level -o out.json --json' || echo "$?: not replaced"
