# SPDX-License-Identifier: GPL-3.0-or-later
# Payloads go to the analyst with their rows: one file each, the same bytes, beside the right values.
. "$DATA/collection.sh"
printf 'code\nF\nM\n' >sex.csv
mkdir scans
awk 'BEGIN { print "sex,scan"; for (i = 1; i <= 40; i++) {
    name = i % 8 ? "scans/" i ".txt" : ""
    if (name != "") { printf "scan of %s number %d", i % 2 ? "F" : "M", i >name; close(name) }
    print (i % 2 ? "F" : "M") "," name } }' >people.csv
invite="cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
    --title Scans --people 40 --k 5 --exposure 0.1 --domain sex=sex.csv"
$invite --payload 2000000 2>/dev/null
echo "too long: $?"
$invite --payload 500
send="cellar collect participant send people.csv --spool spool --key gateway.key --curator curator.pub"
$send
cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub 2>/dev/null
cellar collect curator decide --spool spool --key curator.key
grep payload spool/decision
accept="--least-k 5 --most-exposure 0.1 --payload-column"
$send $accept image
head -c 501 /dev/zero >long.bin
{ cat people.csv; echo F,long.bin; } >long.csv
cellar key create other.key >/dev/null
cellar collect participant send long.csv --spool spool --key other.key --curator curator.pub $accept scan
ls spool/inbox-2 | wc -l
$send $accept scan
cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub 2>/dev/null
cellar collect analyst table --spool spool --key analyst.key --curator curator.pub -o table.csv --payloads got
cat table.csv
tail -n +2 got/rows.csv | while IFS=, read -r sex name; do
    [ -z "$name" ] || grep -q "scan of $sex number" "got/$name" || echo "$name is not of $sex"
done
find got -name '0*' | wc -l
cat got/0* | grep -o 'number [0-9]*' | sort -u | wc -l
cellar collect analyst table --spool spool --key analyst.key --curator curator.pub -o again.csv --payloads got
echo "the folder is there: $?"
