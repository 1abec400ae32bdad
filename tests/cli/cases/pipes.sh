# SPDX-License-Identifier: GPL-3.0-or-later
# A pipe that nobody writes to makes nobody wait where a file is kept; records may come through one.
chmod 700 .
mkfifo pipe
run() {
    timeout 20 cellar "$@" >/dev/null 2>said
    echo "exit $?"
    sed "s|$(pwd -P)/||g" said
}
cellar key create agency.key >/dev/null && cellar key public agency.key -o agency.pub
cellar key create l.key >/dev/null
make="--dataset d --unit person --neighbours add-remove --epsilon 9"
echo "-- keys, witness, ledger"
run key public pipe
run ledger create l $make --witness pipe
run ledger create l $make --witness witness
run ledger show l
rm witness && mkfifo witness
run ledger show l
run ledger adopt l --witness pipe
mkfifo m m.key
run ledger show pipe --ledger-key l.key
run ledger show m
cellar tabulate "$DATA/people.csv" --by sex --missing-as drop --domain "$DATA/lists" -o t.json 2>/dev/null
echo "-- a release and what stands beside it, a signature, a folder"
mkdir pack
cellar protect t.json --mechanism laplace:epsilon=1 --negatives keep -o pack/r.csv 2>/dev/null
cp pack/r.csv alone.csv && mkfifo alone.csv.cellar.json
run report --public alone.csv -o page.html
run sign pack --key pipe
cellar sign pack --key agency.key --accept unaccounted >/dev/null 2>&1
run verify-release pack --key pipe
rm pack/manifest.sig && mkfifo pack/manifest.sig
run verify-release pack --key agency.pub
run sign pack --key agency.key --accept unaccounted
rm pack/manifest.sig && mkfifo pack/more.md
run sign pack --key agency.key --accept unaccounted
mkfifo records.sav
run describe records.sav
echo "-- records through a pipe"
cat "$DATA/people.csv" >pipe &
timeout 20 cellar tabulate pipe --by sex --missing-as drop --domain "$DATA/lists" --format csv 2>/dev/null
wait
