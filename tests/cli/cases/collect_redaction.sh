# SPDX-License-Identifier: GPL-3.0-or-later
# Rare values are redacted under cover in round two, so that their column can be released.
. "$DATA/collection.sh"
printf 'code\nF\nM\n' >sex.csv
{ printf 'code\nclerk\ndriver\n'; seq -f 'rare%g' 0 29; } >job.csv
awk 'BEGIN { print "sex,job"; for (i = 0; i < 4000; i++)
    print (i % 2 ? "F" : "M") "," (i % 50 < 4 ? "rare" int(i / 4) % 30 : i % 3 ? "clerk" : "driver") }' >people.csv
invite="cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
    --title Rare --people 4000 --k 12 --exposure 0.07 --domain sex=sex.csv --domain job=job.csv"
$invite --hide 0.5
echo "half of it: $?"
$invite --hide 0.5 --redacted 0.2 --delta 0.01
echo "invited: $?"
send="cellar collect participant send people.csv --spool spool --key gateway.key --curator curator.pub"
$send
cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub 2>/dev/null
cellar collect curator decide --spool spool --key curator.key
grep -v 'session\|signature\|redact rare' spool/decision
grep -c 'redact rare' spool/decision
cellar collect participant check --spool spool --key gateway.key --curator curator.pub | grep -v 'rare.* is redacted'
$send --least-k 12 --most-exposure 0.07
cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub 2>/dev/null
cellar collect analyst table --spool spool --key analyst.key --curator curator.pub -o table.csv
echo "table: $?"
grep -c redacted table.csv
grep 'rare.*,[1-9]' table.csv
awk -F' ' '/^exposure/ { e = $2 } /^bound/ { print (e <= $2 ? "within the bound" : "above the bound") }' table.csv.achieved
