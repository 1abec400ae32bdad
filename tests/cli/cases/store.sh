# SPDX-License-Identifier: GPL-3.0-or-later
# Every verb that reads records reads their store, and says the same.
cellar demo-data --people 3000 2>/dev/null
age='--band age=10 --bottom age=9 --top age=80'
# shellcheck disable=SC2086 # options
cellar store build people.csv --domain codelists --unit id --sort-by region $age \
    --columns region,sex,age,occupation,diagnosis -o people.store
stat -c %a people.store
cellar store show people.store
cellar store show people.store --json
cellar store verify people.store
cellar store verify people.store --json

# same VERB... DATA...: once with the records, once with the store in their place
same() {
    "$@" >records 2>records.err
    printf '%s\n' "$*: $?, $(wc -c <records) bytes"
    args=$(printf '%s ' "$@" | sed 's/people\.csv/people.store/g; s/--domain codelists//; s/--band age=10.*=80//')
    # shellcheck disable=SC2086 # words
    $args >stored 2>stored.err
    cmp records stored
    sed 's/people\.store/people.csv/' stored.err | cmp records.err -
}
same cellar tabulate people.csv --by region,sex --margins all --unit id --max-per-unit 1 --format json --domain codelists
same cellar tabulate people.csv --by sex,age,diagnosis --domain codelists --band age=10 --bottom age=9 --top age=80
same cellar describe people.csv --columns region,sex,diagnosis
same cellar exposure select people.csv --columns region,sex,diagnosis --k 5 --exposure 0.01 --domain codelists
same cellar exposure table people.csv --columns region,sex --k 5 --domain codelists
same cellar risk table people.csv --qid region,sex --sensitive diagnosis --mechanism discrete-laplace:epsilon=1 --domain codelists
cellar store build people.csv --columns region,sex,age,occupation,diagnosis --domain codelists --unit id \
    --force -o people.store
same cellar tabulate people.csv --by sex,age --where 'age>=30' --band age=20 --domain codelists
sed 's/people\.csv/people.store/' plans/small_country.yaml >plans/stored.yaml
cellar plan check plans/small_country.yaml >records
cellar plan check plans/stored.yaml | cmp records -
sed 's/people\.csv/people.store/' plans/small_country_cube.yaml >plans/stored_cube.yaml
cellar cube plan plans/small_country_cube.yaml >records
cellar cube plan plans/stored_cube.yaml | cmp records -
sed -i '/^ledger:/,$d' plans/stored_cube.yaml
cellar cube build plans/stored_cube.yaml >/dev/null
echo "cube build: $?"

echo "--- refused"
cellar store build people.csv -o people.store
cellar store build people.csv
cellar store build people.store -o again.store
cellar store show people.csv
cellar store showw people.store
cellar store show people.store --sort-by region
cellar tabulate people.store --by region --where 'age>3' --where 'agee=3'
cellar tabulate people.store --by region --weight w
cellar tabulate - --by region <people.store
printf x | dd of=people.store bs=1 seek=17000 conv=notrunc status=none
cellar store verify people.store
cellar tabulate people.store --by region
