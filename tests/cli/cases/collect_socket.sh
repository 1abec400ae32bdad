# SPDX-License-Identifier: GPL-3.0-or-later
# Round one over a socket: the shuffler is killed and started again, and all is sent twice.
. "$DATA/collection.sh"
cellar key create other.key >/dev/null
printf 'code\nF\nM\n' >sex.csv
awk 'BEGIN { print "sex"; for (i = 0; i < 40; i++) print (i % 4 ? "F" : "M") }' >people.csv
printf 'sex\nM\n' >one.csv
cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
    --title 'A test' --people 41 --k 3 --exposure 0.1 --domain sex=sex.csv
shuffle="cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub --listen unix:socket --timeout 5"
send="cellar collect participant send --spool spool --curator curator.pub --to unix:socket --timeout 5"
wait_for_socket() {
    for i in $(seq 100); do [ -S socket ] && return; sleep 0.2; done
}
$send people.csv --key gateway.key
echo "nobody listens: $?"
$shuffle &
first=$!
wait_for_socket
$send people.csv --key gateway.key
echo "sent: $?"
kill -9 $first
wait $first 2>/dev/null
rm -f socket
$shuffle &
second=$!
wait_for_socket
$send people.csv --key gateway.key
echo "sent again: $?"
$send one.csv --key other.key
echo "the last one: $?"
wait $second
echo "forwarded: $?"
cellar collect curator decide --spool spool --key curator.key
grep '^people' spool/decision
