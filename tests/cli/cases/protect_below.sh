# SPDX-License-Identifier: GPL-3.0-or-later
# The threshold of ONS's package: cells below 10 after perturbation are suppressed, not zero. Cell keys
# make the values the same every time: region a has 12 records and x, b has 9 and 11, c has none.
awk 'BEGIN { print "region,sex,key"
    for (i = 0; i < 12; i++) print "a,f," i % 4
    for (i = 0; i < 9; i++) print "b,f," i % 4
    for (i = 0; i < 11; i++) print "b,m," i % 4 }' >records.csv
printf 'code\na\nb\nc\n' >region.csv
printf 'code\nf\nm\n' >sex.csv
{
    echo pcv,ckey,pvalue
    for count in $(seq 750); do
        echo "$count,0,0
$count,1,1
$count,2,-2
$count,3,1"
    done
} >ons.csv
cellar tabulate records.csv --by region,sex --domain region.csv --domain sex.csv --margins all --record-key key --key-range 4 \
    -o table.json 2>/dev/null
protect() { # what becomes of small values, then the name of the output and its options
    below=$1 output=$2
    shift 2
    cellar protect table.json --mechanism cell-key:file=ons.csv --negatives zero --threshold 10 \
        --below $below --date 2026-07-01 --accept no-protection -o $output "$@" 2>message || cat message
}
show() { # file, what of its JSON
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(json.dumps(eval(sys.argv[2])))' "$1" "$2"
}
protect zero zero.csv
protect suppress a.csv
cat zero.csv a.csv
show a.csv.cellar.json '[d["below"], d["threshold"], d["certificate"]["post_processing"]]'
show zero.csv.cellar.json '"below" in d'
echo "every format:"
protect suppress b.json
show b.json '[d["value"], d["status"]]'
protect suppress sparse.json --sparse
show sparse.json '[d["value"], "status" in d, d["extension"]["cellar"]["absent"]]'
protect suppress c.px
sed -n '/^DATA=/,$p' c.px
protect suppress d.csv --format sdmx
cut -d, -f4- d.csv | head -4
protect suppress e.csv --format csvw
cmp a.csv e.csv
show e.csv-metadata.json '[c["titles"] for c in d["tableSchema"]["columns"]]'
echo "a fresh draw, read back in every format:"
cellar tabulate records.csv --by region,sex --domain region.csv --domain sex.csv -o plain.json 2>/dev/null
for file in f.csv f.json f.px; do
    cellar protect plain.json --mechanism discrete-laplace:epsilon=9 --negatives zero --threshold 10 --below suppress \
        -o $file 2>/dev/null
    cellar infer interval $file --every-cell --columns region,sex --json >every.json
    show every.json '[[i["released"], i["estimate"], i["low"], i["naive"]["value"]] for i in d["intervals"] if i["region"] == "c"]'
    cellar infer interval $file --of 'region=c' --json >one.json
    show one.json '[[i["estimate"], i["low"]] for i in d["intervals"]]'
    cellar report --public $file -o page.html --force 2>/dev/null && grep -o 'values below 10 are suppressed' page.html
    cellar fit $file 2>&1
    cellar utility plain.json $file 2>&1
done
echo "what cannot be:"
cellar protect plain.json --mechanism discrete-laplace:epsilon=1 --negatives zero --below suppress -o g.csv 2>&1
printf 'region,sex,released,status\na,f,12,\na,m,3,\n' >h.csv
sed "s/\"sha256\": \"[0-9a-f]*\"/\"sha256\": \"$(sha256sum h.csv | cut -d' ' -f1)\"/" f.csv.cellar.json >h.csv.cellar.json
cellar infer interval h.csv --every-cell 2>&1
sed 's/"below":"suppress"/"below":"perhaps"/' f.json >i.json
cellar infer interval i.json --every-cell 2>&1
