# SPDX-License-Identifier: GPL-3.0-or-later
# The hierarchical mode: pairs and triples of common values, and more columns for it.
. "$DATA/collection.sh"
printf 'code\nF\nM\n' >sex.csv
printf 'code\nnorth\nsouth\neast\n' >region.csv
printf 'code\na\nb\nc\nd\ne\nf\n' >job.csv
awk 'BEGIN { print "sex,region,job"; split("abcdef", j, ""); split("north south east", r, " ");
    for (i = 0; i < 600; i++)
        print (i % 2 ? "F" : "M") "," r[1 + i % 3] "," j[1 + (i % 100 == 7 ? 5 : int(i / 6) % 5)] }' >people.csv
invite="cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
    --title Order --people 600 --k 5 --exposure 0.05 --domain sex=sex.csv --domain region=region.csv --domain job=job.csv"
$invite --order 2 --common 3
echo "common is rare: $?"
for other in '--order 2 --epsilon 1 --delta 0.1' '--common 9' '--model independence --tolerance 0.1 --order 2' \
    '--model independence --tolerance 0.1 --population 700 --delta 0.1'; do
    $invite $other
done
$invite --order 3
echo "invited: $?"
send="cellar collect participant send people.csv --spool spool --key gateway.key --curator curator.pub"
shuffle="cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub"
curator="cellar collect curator --spool spool --key curator.key"
$curator ask
echo "nothing came: $?"
$send && $shuffle
$curator ask
echo "pairs: $?"
grep -v 'session\|signature\|^cell ' spool/question-pairs
$curator ask
echo "triples too early: $?"
$send && $shuffle
$curator ask
echo "triples: $?"
$send && $shuffle
$curator decide
grep -v 'session\|signature' spool/decision
$send --least-k 5 --most-exposure 0.05 && $shuffle
cellar collect analyst table --spool spool --key analyst.key --curator curator.pub -o table.csv
cellar tabulate people.csv --by sex,region,job --domain sex=sex.csv --domain region=region.csv --domain job=job.csv -o true.csv 2>/dev/null
cmp table.csv true.csv && echo "the same table"
cat table.csv.achieved
