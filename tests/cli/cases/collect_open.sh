# SPDX-License-Identifier: GPL-3.0-or-later
# The mode without a central curator: values are randomised, the tally is published, everybody decides again.
. "$DATA/collection.sh"
printf 'code\nF\nM\n' >sex.csv
printf 'code\nnorth\nsouth\n' >region.csv
awk 'BEGIN { print "sex,region"; for (i = 0; i < 900; i++) print (i % 2 ? "F" : "M") "," (i % 7 < 3 ? "north" : "south") }' >people.csv
invite="cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
    --title Open --people 900 --k 3 --exposure 0.3 --domain sex=sex.csv --domain region=region.csv"
$invite --open
echo "open and exact: $?"
$invite --epsilon 3
echo "no delta: $?"
$invite --epsilon 0 --delta 0.01
echo "no epsilon: $?"
$invite --epsilon 3 --open --delta 0.01
echo "invited: $?"
send="cellar collect participant send people.csv --spool spool --key gateway.key --curator curator.pub"
check="cellar collect participant check --spool spool --key gateway.key --curator curator.pub"
$check
$send --most-epsilon 5
echo "too much is told: $?"
$send --most-epsilon 6
cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub
cellar collect curator decide --spool spool --key curator.key
echo "decided: $?"
grep 'epsilon\|delta\|^column' spool/decision
$check people.csv | tail -n 3
sed 's/F/M/' people.csv >lies.csv
$check lies.csv >/dev/null 2>&1
echo "other records: $?"
cp spool/tally tally
printf 'x' >>spool/tally
$send --least-k 3 --most-exposure 0.3
echo "a tally that was changed: $?"
cp tally spool/tally
$send --least-k 3 --most-exposure 0.3
echo "content: $?"
cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub
cellar collect analyst table --spool spool --key analyst.key --curator curator.pub -o table.csv
cellar tabulate people.csv --by sex,region --domain sex=sex.csv --domain region=region.csv -o true.csv 2>/dev/null
cmp table.csv true.csv && echo "the same table"
