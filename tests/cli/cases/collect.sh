# SPDX-License-Identifier: GPL-3.0-or-later
# A collection from the keys to the table, over files; the table is that of tabulate.
. "$DATA/collection.sh"
cellar key create other.key >/dev/null
cellar collect curator identity --key other.key -o other.pub
printf 'code\nF\nM\n' >sex.csv
printf 'code\nnorth\nsouth\n' >region.csv
printf 'code\na\nb\nc\nd\ne\nf\ng\nh\n' >job.csv
awk 'BEGIN { print "sex,region,job"; split("abcdefgh", j, "");
    for (i = 0; i < 400; i++)
        print (i % 2 ? "F" : "M") "," (i % 7 < 3 ? "north" : "south") "," j[1 + i % 8] }' >people.csv
cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
    --title 'A test' --people 400 --k 3 --exposure 0.1 --domain sex=sex.csv --domain region=region.csv --domain job=job.csv
echo "invited: $?"
send="cellar collect participant send"
shuffle="cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub"

head -n 1 people.csv >none.csv
$send none.csv --spool spool --key gateway.key --curator curator.pub
echo "nobody sent: $?"
ln -s "$PWD/people.csv" spool/inbox-1/0123456789abcdef0123456789abcdef
head -n 300 people.csv >some.csv
$send some.csv --spool spool --key gateway.key --curator curator.pub
echo "some sent: $?"
$send people.csv --spool spool --key gateway.key --curator curator.pub 2>&1 | sed 's|[0-9a-f]\{32\}|NAME|'
$shuffle
rm spool/inbox-1/0123456789abcdef0123456789abcdef
$send people.csv --spool spool --key gateway.key --curator curator.pub
cp spool/inbox-1/* copy
printf 'cut' >>spool/inbox-1/"$(ls spool/inbox-1)"
echo mine >spool/inbox-1/notes.txt
echo mine >spool/inbox-1/my-notes-about-the-survey-v2.txt
$shuffle
cp copy spool/inbox-1/
$shuffle
echo "after the end: $?"

cellar collect curator decide --spool spool --key curator.key
echo "decided: $?"
grep -v 'session\|signature' spool/decision
cellar collect curator decide --spool spool --key curator.key
echo "decided again: $?"

$send people.csv --spool spool --key gateway.key --curator curator.pub
echo "no policy: $?"
$send people.csv --spool spool --key gateway.key --curator other.pub
echo "another curator: $?"
$send people.csv --spool spool --key gateway.key --curator curator.pub --least-k 5 --most-exposure 1
echo "a stricter k: $?"
$send people.csv --spool spool --key gateway.key --curator curator.pub --least-k 3 --most-exposure 1 --never sex
echo "never sex: $?"
$send people.csv --spool spool --key gateway.key --curator curator.pub --least-k 3 --most-exposure 0.3
echo "content: $?"
$shuffle
cellar collect analyst table --spool spool --key analyst.key --curator curator.pub -o table.csv
echo "table: $?"
cellar tabulate people.csv --by sex,region --domain sex=sex.csv --domain region=region.csv -o true.csv 2>/dev/null
cmp table.csv true.csv && cmp spool/decision table.csv.decision && echo "the same table"
cat table.csv.achieved
stat -c '%a %n' table.csv table.csv.achieved table.csv.decision spool/invitation spool/round-2.batch
ls spool
