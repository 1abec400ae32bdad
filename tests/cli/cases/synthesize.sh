# SPDX-License-Identifier: GPL-3.0-or-later
# Records from a release: counting them gives the release back, whatever was drawn.
printf 'sex,region,count\nf,n,50\nf,s,0\nm,n,70\nm,s,30\n' >cells.csv
cellar protect cells.csv --mechanism poisson:alpha=1 --negatives keep --domain-public \
    --accept large-epsilon -o release.csv 2>/dev/null
cut -d, -f1-3 release.csv | tail -n +2 >want
for name in people.csv people.tsv people.csv.gz; do
    cellar synthesize release.csv -o $name --shuffle 2>/dev/null || echo failed
    cellar tabulate $name --by sex,region -o again.csv --force 2>/dev/null || echo failed
    tail -n +2 again.csv | cmp - want && echo "$name: same"
done
cellar synthesize release.csv --count n -o counted.csv 2>/dev/null
head -n 1 counted.csv
cellar tabulate counted.csv --count n --by sex,region -o again.csv --force 2>/dev/null
tail -n +2 again.csv | cmp - want && echo "counted.csv: same"
grep -c -e '"statement": "synthetic: no record was copied' -e '"certificate": {' people.csv.synthetic.json
cellar synthesize release.csv -o other.csv --json | sed 's/: [0-9]\{1,\}/: NUMBER/'
# What is refused, and with which words.
cellar protect cells.csv --mechanism discrete-laplace:epsilon=0.01 --negatives zero --threshold 5 \
    --below suppress --domain-public -o hidden.csv 2>/dev/null
for arguments in "release.csv -o people.csv" "release.csv" "release.csv -o people.px" "cells.csv -o x.csv" \
    "release.csv -o x.csv --language fr" "release.csv -o x.csv --max-records 1" \
    "hidden.csv -o x.csv" "release.csv -o release.csv --force" "release.csv -o x.csv --count sex"; do
    cellar synthesize $arguments 2>&1
    echo "exit $?"
done
ls
