# SPDX-License-Identifier: GPL-3.0-or-later
# Parts that were counted apart add up to the table of all records, to the byte; others are refused.
printf 'code\nf\nm\n' >sex.csv
printf 'sex,w\nf,1\nm,2\nf,3.5\n' >one.csv
printf 'sex,w\nm,4\nm,0.25\n' >two.csv
{ cat one.csv; tail -n +2 two.csv; } >all.csv
count() { cellar tabulate "$1.csv" --by sex --domain sex.csv --weight w --margins all -o "$1.json" 2>/dev/null; }
count one && count two && count all
cellar merge one.json two.json -o merged.json && cmp merged.json all.json && echo equal
cellar tabulate two.csv --by sex --domain sex.csv -o other.json 2>/dev/null
cellar merge one.json other.json
echo "exit status $?"
printf 'code,label\nf,men\nm,women\n' >new.csv
cellar tabulate two.csv --by sex --domain new.csv --weight w --margins all -o new.json 2>/dev/null
cellar merge one.json new.json
echo "exit status $?"
sed 's/,"weighted":\[[^]]*\]//' two.json >bare.json
cellar merge one.json bare.json
cellar merge bare.json one.json
echo "exit status $?"
cellar merge one.json
echo "exit status $?"
ln -s one.json again.json
cellar merge one.json two.json again.json -o twice.json
echo "exit status $?"
head -c 300 two.json >short.json
cellar merge one.json short.json -o short-sum.json
echo "exit status $?"
[ ! -e twice.json ] && [ ! -e short-sum.json ] && echo "no table"
for part in one two all; do # of the first part nobody counts
    cellar tabulate $part.csv --by sex --domain sex.csv --weight w --max-weight 5 --where 'w>3.9' -o few-$part.json 2>/dev/null
done
cellar merge few-one.json few-two.json -o few.json && cmp few.json few-all.json && echo equal
