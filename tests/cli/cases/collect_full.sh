# SPDX-License-Identifier: GPL-3.0-or-later
# No file may grow beyond a few kilobytes, as on a full disk: every role stops, says so, leaves nothing half-written, and goes on
# where it was when there is room again. Nobody is lost and nobody counts twice.
. "$DATA/collection.sh"
mkdir shuffler participant
printf 'code\nF\nM\n' >sex.csv
printf 'code\nnorth\nsouth\n' >region.csv
awk 'BEGIN { print "sex,region"; for (i = 0; i < 100; i++) print (i % 2 ? "F" : "M") "," (i % 7 < 3 ? "north" : "south") }' >people.csv
cramp() { # KILOBYTES COMMAND...; in place of the shell, so that a signal reaches the command
    trap '' XFSZ && ulimit -f $(($1 * 2)) && shift && exec "$@"
}
wait_for() {
    for i in $(seq 100); do [ -e "$1" ] && return; sleep 0.2; done
    echo "$1 is not there"
}
invite() {
    cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
        --title Full --people 100 --exposure 0.2 --domain sex=sex.csv --domain region=region.csv "$@" 2>&1
    echo "invited: $?"
}
serve="cellar collect curator serve --spool spool --key curator.key --listen unix:desk --timeout 5"
shuffle="cellar collect shuffler run --spool shuffler --key shuffler.key --curator curator.pub --from unix:desk --forward unix:desk --timeout 5"
send() {
    cellar collect participant send people.csv --spool participant --key gateway.key --curator curator.pub \
        --from unix:desk --to unix:door --timeout 5 2>&1
    echo "sent: $?"
}
invite --k 300
ls spool
(cramp 0 cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
    --title Full --people 100 --k 3 --exposure 0.2 --domain sex=sex.csv --domain region=region.csv) 2>&1 | cat
ls spool
invite --k 3
# The shuffler's disk is full when half have sent; nobody was told that all were taken.
cramp 64 $serve &
desk=$!
wait_for desk
cramp 8 $shuffle --listen unix:door 2>&1 &
shuffler=$!
wait_for door
send >heard # either of the two may speak first
wait $shuffler
echo "shuffler: $?"
cat heard
rm -f door
cellar collect curator decide --spool spool --key curator.key 2>&1
# There is room for the spool, then for the batch.
$shuffle --listen unix:door >told 2>&1 &
shuffler=$!
wait_for door
send
wait $shuffler
cat told
kill $desk
wait $desk 2>/dev/null
rm -f desk spool/round-1.batch
# The curator's disk is full.
cramp 8 $serve &
desk=$!
wait_for desk
$shuffle 2>&1
echo "delivered: $?"
ls spool
kill $desk
wait $desk 2>/dev/null
rm -f desk
$serve &
desk=$!
wait_for desk
$shuffle 2>&1
echo "delivered: $?"
(cramp 0 cellar collect curator decide --spool spool --key curator.key) 2>&1 | cat
cellar collect curator decide --spool spool --key curator.key
echo "decided: $?"
grep '^people' spool/decision
ls spool shuffler
kill $desk
wait $desk 2>/dev/null
exit 0
