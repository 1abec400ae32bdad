# SPDX-License-Identifier: GPL-3.0-or-later
# A decision by a sample where columns hang together, so that independence is wrong in either direction; a check
# that finds a sample of other people; and files that are no model of the collection.
for role in curator shuffler analyst gateway; do
    cellar key create $role.key >/dev/null
    [ $role = gateway ] || cellar collect $role identity --key $role.key -o $role.pub
done
{ echo code; seq 0 9; } >ten.csv
{ echo code; seq 0 29; } >thirty.csv

# Two columns that are the same one, but for 1 in 12 people with other pairs: few share these.
similar='i % 10 "," (i % 12 ? i % 10 : int(i / 60) % 10)'
people() { awk -v n="$1" "BEGIN { print \"a,b\"; for (i = 0; i < n; i++) print $2 }"; }
people 1000 "$similar" >similar.csv
people 60000 "$similar" >similar.before.csv
people 300 'i % 30 "," i % 30' >same.csv
people 60000 'i % 30 "," i % 30' >same.before.csv
people 60000 'i % 10 "," int(i / 10) % 10' >apart.before.csv

# invite FOLDER PEOPLE CODES MODEL...
invite() {
    mkdir "$1"
    cellar collect curator invite --spool "$1" --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
        --title "$1" --people "$2" --k 3 --exposure 0.03 --domain a="$3" --domain b="$3" --tolerance 0.001 --model "$4" \
        ${5:+--delta "$5"} || rmdir "$1"
}
# first FOLDER RECORDS: round one.
first() {
    cellar collect participant send "$2" --spool "$1" --key gateway.key --curator curator.pub
    cellar collect shuffler run --spool "$1" --key shuffler.key --curator curator.pub 2>/dev/null
}
# decide FOLDER RECORDS CODES MODEL...: how many columns a decision releases.
decide() {
    invite "$1" $(($(wc -l <"$2") - 1)) "$3" "$4" "${5:-}"
    first "$1" "$2"
    cellar collect curator decide --spool "$1" --key curator.key --model "$4"
    sed -n 's/^columns //p' "$1/decision"
}
# trusted RECORDS: how many columns somebody releases who has seen them all.
trusted() {
    cellar exposure select "$1" --columns a,b --k 3 --exposure 0.03 --measure known 2>/dev/null |
        sed -n 's/^best_set.* //p' | tr , '\n' | wc -l
}

echo "similar: $(decide s1 similar.csv ten.csv independence) by independence," \
    "$(decide s2 similar.csv ten.csv sample:similar.before.csv 0.001) by a sample, $(trusted similar.csv) trusted"
echo "same: $(decide s3 same.csv thirty.csv independence) by independence," \
    "$(decide s4 same.csv thirty.csv sample:same.before.csv 0.001) by a sample, $(trusted same.csv) trusted"

# The same with a cube, of fewer combinations: noise on all those that nobody has adds up.
people 300 'i % 10 "," i % 10' >ten.same.csv
people 60000 'i % 10 "," i % 10' >ten.before.csv
cube() { cat <<END
plan: 1
title: Other people
data: {file: $1.csv}
unit: {name: person}
variables: [{name: a, codelist: ten.csv}, {name: b, codelist: ten.csv}]
universe: {file: $1.cube, up_to: $2}
budget: {epsilon: 8, delta: 1e-6}
negatives: keep
parameter_choice: advance
END
}
cube ten.before 2 >cube.yaml
cellar cube build cube.yaml 2>/dev/null
echo "ten: $(decide s10 ten.same.csv ten.csv independence) by independence," \
    "$(decide s11 ten.same.csv ten.csv cube:ten.before.cube 0.001) by a cube, $(trusted ten.same.csv) trusted"

# A sample of people whose columns have nothing to do with each other.
echo "by a wrong sample: $(decide s5 similar.csv ten.csv sample:apart.before.csv 0.001)"
cellar collect participant send similar.csv --spool s5 --key gateway.key --curator curator.pub --least-k 3 \
    --most-exposure 0.03 --most-tolerance 0.001 --models sample
cellar collect shuffler run --spool s5 --key shuffler.key --curator curator.pub 2>/dev/null
cellar collect analyst table --spool s5 --key analyst.key --curator curator.pub -o wrong.csv
echo "the check: $?"
ls wrong.csv 2>/dev/null

# What is no model of this collection.
echo 'a,b' >empty.csv
printf 'a,c\n1,1\n' >other.csv
printf 'a,b\n1,1\n1,77\n' >outside.csv
printf 'a,b\n1,1\n1,\n' >missing.csv
mkfifo pipe.csv
for model in sample:empty.csv sample:other.csv sample:outside.csv sample:missing.csv sample:nowhere.csv \
    sample:pipe.csv sample:/dev/zero cube:. cube:similar.before.csv sample: cube median:empty.csv; do
    invite refused 1000 ten.csv $model 0.001
done
invite refused 1000 ten.csv sample:similar.before.csv
invite refused 1000 ten.csv sample:similar.before.csv 1
invite refused 1000 ten.csv cube:ten.before.cube 0.000000000000000001
cube similar.before 1 >cube.yaml
cellar cube build cube.yaml 2>/dev/null
mkdir s6
cellar collect curator invite --spool s6 --key curator.key --shuffler shuffler.pub --analyst analyst.pub --title s6 \
    --people 300 --k 3 --exposure 0.03 --domain a=ten.csv --domain d=ten.csv --tolerance 0.001 --delta 0.001 \
    --model cube:similar.before.cube
rmdir s6
invite refused 300 thirty.csv cube:similar.before.cube 0.001

# Single columns are all that this cube knows: one of them is released, and its exposure was counted.
decide s7 similar.csv ten.csv cube:similar.before.cube 0.001
grep '^bound' s7/decision

# The file must be the one that was named, and be about these people.
invite s8 300 thirty.csv sample:same.before.csv 0.001
first s8 same.csv
cellar collect curator decide --spool s8 --key curator.key
cellar collect curator decide --spool s8 --key curator.key --model cube:similar.before.cube
cellar collect curator decide --spool s8 --key curator.key --model sample:same.csv
invite s9 300 thirty.csv sample:similar.before.csv 0.001
first s9 same.csv
cellar collect curator decide --spool s9 --key curator.key --model sample:similar.before.csv
echo "contradicted: $?"
ls s9/decision 2>/dev/null
