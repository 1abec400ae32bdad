# SPDX-License-Identifier: GPL-3.0-or-later
# Every role a process with a folder of its own: all goes over sockets.
for role in curator shuffler analyst participant; do
    mkdir $role
    cellar key create $role/key >/dev/null
    [ $role = participant ] || cellar collect $role identity --key $role/key -o $role.pub
done
cellar collect curator identity --key participant/key -o other.pub
printf 'code\nF\nM\n' >sex.csv
printf 'code\nnorth\nsouth\n' >region.csv
awk 'BEGIN { print "sex,region"; for (i = 0; i < 10000; i++) print (i % 2 ? "F" : "M") "," (i % 7 < 3 ? "north" : "south") }' >people.csv
cellar collect curator invite --spool curator --key curator/key --shuffler shuffler.pub --analyst analyst.pub \
    --title Apart --people 10000 --k 3 --exposure 0.2 --domain sex=sex.csv --domain region=region.csv
wait_for() {
    for i in $(seq 100); do [ -e "$1" ] && return; sleep 0.2; done
    echo "$1 is not there"
}
serve() {
    cellar collect curator serve --spool curator --key curator/key --listen unix:desk --timeout 5 &
    curator=$!
    wait_for desk
}
shuffle() {
    cellar collect shuffler run --spool shuffler --key shuffler/key --curator curator.pub --from unix:desk "$@" --timeout 5
}
send() {
    cellar collect participant send people.csv --spool participant --key participant/key --curator curator.pub \
        --from unix:desk --to unix:door --timeout 5 "$@"
}
send
echo "nobody is there: $?"
serve
cellar collect participant check --spool participant --key participant/key --curator other.pub --from unix:desk
echo "another curator: $?"
shuffle --listen unix:door --forward unix:nowhere &
shuffler=$!
wait_for door
send
echo "sent: $?"
wait $shuffler
echo "nobody to deliver to: $?"
kill -9 $curator
wait $curator 2>/dev/null
rm -f desk
serve
shuffle --forward unix:desk
echo "delivered: $?"
shuffle --forward unix:desk
echo "delivered again: $?"
cmp shuffler/round-1.batch curator/round-1.batch && echo "the same batch"
cellar collect curator decide --spool curator --key curator/key
echo "decided: $?"

cellar collect analyst serve --spool analyst --key analyst/key --curator curator.pub --from unix:desk --listen unix:window --timeout 5 &
analyst=$!
wait_for window
rm -f door
shuffle --listen unix:door --forward unix:window &
shuffler=$!
wait_for door
send --least-k 3 --most-exposure 0.2
echo "sent: $?"
wait $shuffler $analyst
echo "delivered: $?"
kill $curator
cellar collect analyst table --spool analyst --key analyst/key --curator curator.pub -o table.csv
cellar tabulate people.csv --by sex,region --domain sex=sex.csv --domain region=region.csv -o true.csv 2>/dev/null
cmp table.csv true.csv && echo "the same table"
ls participant shuffler analyst | sed 's/key\..*/key.kept/'
grep -l north */* 2>/dev/null
