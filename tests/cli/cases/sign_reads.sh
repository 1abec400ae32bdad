# SPDX-License-Identifier: GPL-3.0-or-later
# What is signed is read first: nothing confidential, nothing forged, nothing unawares.
cellar key create agency.key >/dev/null
cellar key public agency.key -o agency.pub
sign() {
    chmod 644 pack/*
    cellar sign pack --key agency.key "$@" 2>&1 | sed 's/key [0-9a-f]*$/key ID/'
}
empty() { rm -rf pack && mkdir pack; }
printf 'region,sex\nnorth,f\nsouth,m\nsouth,f\n' >people.csv
count="cellar tabulate people.csv --by region --domain-public"
for format in csv json px sdmx csvw; do
    empty
    $count --format $format -o pack/t.$format 2>/dev/null
    [ $format = csvw ] && cp pack/t.csvw pack/t.csv
    [ $format = sdmx ] && mv pack/t.sdmx pack/t.csv
    echo "-- a table of true counts: $(cd pack && ls | tr '\n' ' ')"
    sign
done
empty
$count -o table.json 2>/dev/null
echo "-- assessments, a page for the committee, its charts, a key"
cellar risk table people.csv --qid region --sensitive sex --mechanism laplace:epsilon=1 --json >pack/risk.json
sign
empty
cellar tabulate people.csv --by region,sex --domain-public -o both.json 2>/dev/null
cellar report both.json --qid region --sensitive sex --mechanism laplace:epsilon=1 --charts charts -o pack/page.html
sign
empty
cp charts/*.svg pack
sign | sed 's/[a-z-]*\.svg/CHART.svg/'
empty
cp agency.key pack
sign

echo "-- true counts under another name, and an assessment"
for name in t.tsv t.CSV t; do
    empty
    cellar tabulate $DATA/people.csv --by region --domain-public --format csv -o pack/$name 2>/dev/null
    chmod 644 pack/$name
    sign
done
empty
cellar utility table.json --mechanism laplace:epsilon=1 --copies 2 --seed 1 >pack/losses.txt 2>/dev/null
chmod 644 pack/losses.txt
sign
protect="cellar protect table.json --negatives keep --domain-public --date 2026-07-01"
echo "-- no protection"
empty
$protect --mechanism identity --accept no-protection -o pack/r.csv 2>/dev/null
sign --accept unaccounted
sign --accept unaccounted --accept no-protection
grep accepts pack/manifest.sig
cellar verify-release pack --key agency.pub --json 2>/dev/null | sed 1,4d
echo "-- a large epsilon"
empty
$protect --mechanism laplace:epsilon=10000 --accept large-epsilon -o pack/r.px 2>/dev/null
sign --accept unaccounted
sign --accept unaccounted --accept large-epsilon
echo "-- rounding: no guarantee, which is said"
empty
$protect --mechanism round:base=5 -o pack/r.json 2>/dev/null
sign --accept unaccounted
echo "-- a certificate that claims more than its mechanism"
for format in csv json px; do
    empty
    $protect --mechanism discrete-laplace:epsilon=2 -o pack/r.$format 2>/dev/null
    sed -i 's/\("\|%22\)pure_epsilon\("\|%22\):\( *\)2.0/\1pure_epsilon\2:\30.2/' pack/*
    sign --accept unaccounted
done
echo "-- what is of no known kind: records, compressed, a picture, a ledger, a draft, prose that is a table"
printf 'id,region\n1,north\n2,south\n' >records
for name in people.csv people.txt README.md notes.md; do
    empty
    cp records pack/$name
    sign
done
empty
gzip -c records >pack/people.csv.gz
sign
empty
printf '\211PNG\r\n' >pack/chart.png
sign
cellar key create ledger.key >/dev/null
cellar ledger create ledger --dataset d --unit person --neighbours add-remove --epsilon 1 >/dev/null 2>&1
empty
cp ledger pack
sign
empty
cellar describe people.csv --write-codelist region=pack/region.csv >/dev/null 2>&1
sign
empty
cellar describe people.csv >pack/README.txt 2>/dev/null
sign
empty
printf '{"records": [{"id": 1, "region": "north"}]}' >pack/people.json
sign
echo "-- accepted by name, which is signed; only that file, and nothing confidential"
empty
cp records pack/people.csv && cp records pack/more.csv
sign --accept-file people.csv
sign --accept-file more.csv --accept-file none.csv
sign --accept-file more.csv --accept-file people.csv
sed 's/[0-9a-f]\{16,\}/HEX/' pack/manifest.sig
cellar verify-release pack --key agency.pub --json 2>/dev/null | sed 1,4d
sed -i '/^file more.csv/d' pack/manifest.sig
cellar verify-release pack --key agency.pub 2>&1 | sed 's/key [0-9a-f]*$/key ID/'
empty
cellar tabulate people.csv --by region --domain-public -o pack/t.csv 2>/dev/null
sign --accept-file t.csv
echo "-- what is published: every format, a fit, a page and its charts, a certificate, prose, the key"
empty
for name in plain.csv:csv r.json:json r.px:px sdmx.csv:sdmx web.csv:csvw; do
    $protect --mechanism discrete-laplace:epsilon=2 --format ${name#*:} -o pack/${name%:*} 2>/dev/null
done
for format in csv json px; do
    cellar fit pack/r.json -o pack/fitted.$format >/dev/null 2>&1
done
cellar report --public pack/r.json --charts charts2 -o pack/page.html 2>/dev/null
cp charts2/*.svg pack
cellar certify discrete-laplace:epsilon=1 --json >pack/certificate.json
echo 'These tables, with noise.' >pack/README.md
cp agency.pub pack
ls pack | grep -v '\.svg$'
sign --accept unaccounted | sed 's/[0-9]* files*/N files/'
echo "-- SDMX is only written: its certificate is computed again from what stands beside it"
empty
$protect --mechanism discrete-laplace:epsilon=2 --format sdmx -o pack/r.csv 2>/dev/null
sed -i 's/"pure_epsilon": 2.0/"pure_epsilon": 0.2/' pack/r.csv.cellar.json
sign --accept unaccounted
echo 'x' >>pack/r.csv
rm pack/manifest.sha256
sign --accept unaccounted
echo "-- a stamp that no ledger writes"
for format in csv json px; do
    empty
    $protect --mechanism discrete-laplace:epsilon=2 -o pack/r.$format 2>/dev/null
    sed -i 's/unaccounted,\( \|%20\)not\( \|%20\)for\( \|%20\)publication/paid/' pack/*
    sign
done
sign --accept everything
