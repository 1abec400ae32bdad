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
