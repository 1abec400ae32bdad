# SPDX-License-Identifier: GPL-3.0-or-later
# Records from a cube. The noise is fresh every time: what holds for all draws is looked at.
cellar demo-data --people 3000 2>/dev/null
sed -e 's|\.\./||' -e '/^ledger:/,$d' plans/small_country_cube.yaml >universe.yaml
cellar cube build universe.yaml 2>/dev/null
cellar synthesize country.cube -o people.tsv --json >answer.json || echo failed
grep -c '"in_model": true' answer.json | awk '{ print ($1 > 5) }'
grep -o '"statement": "synthetic' answer.json
head -n 1 people.tsv | tr '\t' ' '
cellar synthesize country.cube -o s.csv.gz --sets 2 --records 500 --labels 2>message | sed -n '1s/  */ /gp'
ls s-*
gunzip -c s-2.csv.gz | wc -l
grep -o 'share the noise of the cube' message
grep -o 'intervals that are too short' s-1.csv.gz.synthetic.json
cellar synthesize country.cube -o x.csv --max-records 10 2>&1
echo "exit $?"
cellar tabulate people.tsv --by region --domain codelists -o t.csv 2>/dev/null
cellar protect t.csv --mechanism poisson:alpha=1 --negatives keep -o r.csv --domain-public 2>/dev/null
cellar synthesize r.csv -o x.csv --sets 2 2>&1
echo "exit $?"
# Several sets appear all or not at all, and a name that is taken is seen before the first is drawn.
mkdir sets && cd sets
for taken in w-2.csv w-2.csv.synthetic.json; do
    touch $taken
    cellar synthesize ../country.cube -o w.csv --sets 2 2>&1
    echo "exit $?"
    ls
    rm w-*
done
mkdir w-2.csv
cellar synthesize ../country.cube -o w.csv --sets 2 --force >/dev/null 2>&1
echo "exit $?"
ls
rmdir w-2.csv
cellar synthesize ../country.cube -o w.csv --sets 2 --json 2>/dev/null | sed -n '2,7p'
cellar synthesize ../country.cube -o w.csv --sets 2 --force 2>/dev/null | grep -o 'Tables of the first set'
cd ..
# Half as many records are compared as what they stand for: a table of one variable is met up to 2 of 1500 for each cell.
cellar synthesize country.cube -o half.csv --records 1500 --json 2>/dev/null |
    awk '/"table": "sex"/ { on = 1 } on && /"difference"/ { print ($2 + 0 < 20); exit }'
# What is refused, and with which words.
: >empty.cube
size=$(wc -c <country.cube)
{ head -c $((size - 8)) country.cube && printf 'damaged!'; } >damaged.cube
for arguments in empty.cube damaged.cube "country.cube --ignore-margins"; do
    cellar synthesize $arguments -o y.csv 2>&1
    echo "exit $?"
done
cellar synthesize country.cube -o y.csv --count '' 2>&1
echo "exit $?"
[ ! -e y.csv ] && echo "nothing was written"
