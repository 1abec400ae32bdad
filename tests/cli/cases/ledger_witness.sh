# SPDX-License-Identifier: GPL-3.0-or-later
# A witness elsewhere: an older copy of the ledger is refused, and going on with it is on record.
hide() { sed 's/[0-9a-f]\{64\}/HEAD/g; s/....-..-..T..:..:..Z/TIME/; s|its witness [^ ]*/|its witness |; s|(/[^ ]*/|(|'; }
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" -o table.json 2>/dev/null
mkdir elsewhere other
cellar ledger create l --dataset census --unit person --neighbours add-remove --epsilon 2 \
    --witness elsewhere/w 2>/dev/null
stat -c '%a %n' elsewhere/w
draw() {
    echo "-- request $1"
    cellar protect table.json --negatives keep --unit person --ledger l --dataset census \
        --mechanism discrete-laplace:epsilon=0.25 --request "$1" -o "$1.json" 2>&1 |
        hide | grep -v 'confidential\|total epsilon\|released'
}
spent() { cellar ledger show l --json | grep -A2 '"spent"' | grep epsilon; }
draw one
cellar ledger verify l | sed "1d; s|: .*/|: |"
cp l copy
draw two
wc -l <elsewhere/w # one for each entry, and before each line
printf '\ncellar-witness 1 garbage' >>elsewhere/w # half a line of a program that was killed
head -3 elsewhere/w >>elsewhere/w                # an old line again: the newest counts
draw three
echo "-- an older copy"
cp l newest && cp copy l
draw four
ls four.json 2>/dev/null
for verb in show history verify 'add --dataset census --edition b'; do
    cellar ledger ${verb%% *} l $(echo "$verb" | cut -s -d' ' -f2-) >/dev/null 2>&1
    echo "$verb: exit $?"
done
echo "-- adopted"
cellar ledger adopt l 2>&1 | hide
cellar ledger adopt l 2>&1
spent
cellar ledger show l | grep adopted | hide
draw four
cellar ledger verify l --against two.json 2>&1 | hide
echo "-- neither the newest nor the copy from before is taken any more"
cp l adopted
for file in newest copy; do cp $file l; cellar ledger show l 2>&1 | hide; done
echo "-- adopted once more, the first adoption is missed"
cellar ledger adopt l 2>&1 | hide
cp adopted l
cellar ledger show l >/dev/null 2>&1 || echo refused
cellar ledger adopt l 2>/dev/null
echo "-- no witness"
mv elsewhere/w kept
cellar ledger show l 2>&1 | hide
cellar ledger adopt l 2>&1 | sed 's|/[^ ]*/||'
: >elsewhere/w
cellar ledger show l 2>&1 | hide
mv kept elsewhere/w
echo "-- another witness"
cp l copy
cellar ledger adopt l --witness table.json 2>&1 | sed 's|/[^ ]*/||'
cmp l copy
cellar ledger adopt l --witness other/w 2>&1 | hide
draw five
cp copy l
cellar ledger show l 2>&1 | hide
echo "-- a witness later"
cellar ledger create m --dataset d --unit person --neighbours add-remove --epsilon 1 2>/dev/null
cellar ledger adopt m 2>&1
cellar ledger adopt m --witness other/w 2>&1 # two ledgers may share one
cellar ledger show m | grep -c adopted
cellar ledger show m --witness other/w 2>&1
echo "exit $?"
