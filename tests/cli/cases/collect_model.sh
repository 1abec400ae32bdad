# SPDX-License-Identifier: GPL-3.0-or-later
# Decisions that rest on a model: the example of 300 browsers, consent, and a check that finds a wrong model.
"$SOURCE/examples/collect/browsers" browsers
cd browsers
grep -v 'session\|signature' by-model/decision
grep '^bound\|^column' by-bounds/decision
for kind in sample cube; do
    grep '^model \|^tolerance\|^delta\|^column\|hang together' by-$kind/decision
    awk '/^bound/ { print "within what is allowed:", $2 <= 0.05 }' by-$kind/decision
done
test "$(sed -n 's/^model-file //p' by-sample/decision)" = "$(b2sum -l 256 before.csv | cut -d' ' -f1)" && echo same hash
grep '^model-people' by-sample/decision
cellar collect participant check --spool by-model --key gateway.key --curator curator.pub --least-k 5 \
    --most-exposure 0.05 | grep -i 'model\|bound\|send'
cellar key create other.key >/dev/null
cellar collect participant send browsers.csv --spool by-model --key other.key --curator curator.pub --least-k 5 \
    --most-exposure 0.05
cellar collect participant send browsers.csv --spool by-model --key other.key --curator curator.pub --least-k 5 \
    --most-exposure 0.05 --most-tolerance 0.009
# Consent to models is not consent to those in files that participants do not have.
for models in '' '--models sample' '--models sample,cube'; do
    cellar collect participant check --spool by-cube --key other.key --curator curator.pub --least-k 5 \
        --most-exposure 0.05 --most-tolerance 0.01 $models 2>&1 | grep 'policy'
done

# Two columns that are the same one, but for a few people with other pairs: the model is wrong.
{ echo code; seq 0 9; } >ten.csv
awk 'BEGIN { print "a,b"; for (i = 0; i < 1000; i++) print i % 10 "," (i % 12 ? i % 10 : int(i / 60) % 10) }' >wrong.csv
mkdir wrong
cellar collect curator invite --spool wrong --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
    --title Wrong --people 1000 --k 3 --exposure 0.03 --domain a=ten.csv --domain b=ten.csv \
    --model independence --tolerance 0.001
send="cellar collect participant send wrong.csv --spool wrong --key gateway.key --curator curator.pub"
$send
cellar collect shuffler run --spool wrong --key shuffler.key --curator curator.pub 2>/dev/null
cellar collect curator decide --spool wrong --key curator.key
grep '^bound\|^column' wrong/decision
$send --least-k 3 --most-exposure 0.03 --most-tolerance 0.001
cellar collect shuffler run --spool wrong --key shuffler.key --curator curator.pub 2>/dev/null
cellar collect analyst table --spool wrong --key analyst.key --curator curator.pub -o wrong.table.csv
echo "the check: $?"
ls wrong.table.csv 2>/dev/null
