# SPDX-License-Identifier: GPL-3.0-or-later
# A ledger is made with its key, tells its datasets, and its history cannot be changed unseen.
hide() { sed 's/[0-9a-f]\{64\}/HEAD/g; s/ledger [0-9a-f]\{16\}/ledger ID/; s/....-..-..T..:..:..Z/TIME/'; }
cellar ledger create l --ledger-key k --dataset census --unit person --neighbours add-remove \
    --epsilon 4 --delta 1e-9 --population 1000000 2>&1
ls -l l k | cut -c1-10
cellar ledger add l --ledger-key k --dataset census --edition revised
cellar ledger add l --ledger-key k --dataset census --analyst ana --epsilon 0.5
cellar ledger add l --ledger-key k --dataset survey --unit household --neighbours substitute --rho 0.1
cellar ledger enter l --ledger-key k --dataset census --uncharged invariant --what 'the total' \
    --edition revised
cellar ledger show l --ledger-key k | hide
cellar ledger history l --ledger-key k | hide
cellar ledger verify l --ledger-key k | hide
cellar ledger show l --ledger-key k --dataset survey --json | sed 's/"[0-9a-f]\{16,\}"/HEX/g'
cellar ledger history l --ledger-key k --dataset survey --json |
    sed 's/"[0-9a-f]\{16,\}"/HEX/g; s/"....-..-..T..:..:..Z"/TIME/'
says() {
    cellar ledger "$@" 2>&1 | sed 's/key [0-9a-f]*, and this is [0-9a-f]*/key A, and this is B/'
}
says create l --ledger-key k
says create /proc/self/l --ledger-key new # a refused place: no key is left behind
says create n --ledger-key new --dataset d --unit person --neighbours add-remove --epsilon 0
says create n --ledger-key new --dataset d --unit person --neighbours add-remove --epsilon 1 --delta 0.1
ls new n n-lock 2>/dev/null # nor a ledger without the dataset that was asked for
says add l --ledger-key k --dataset census --edition revised
says add l --ledger-key k --dataset big --unit person --neighbours add-remove --epsilon 1 \
    --delta 0.1 --population 10
says add l --ledger-key k --dataset big --unit person --neighbours add-remove --epsilon 1 --delta 0.1
says add l --ledger-key k --dataset big --unit person --neighbours add-remove
says add l --ledger-key k --dataset big --epsilon 1
says add l --ledger-key k --dataset none --analyst ana --epsilon 1
says enter l --ledger-key k --dataset none --uncharged elsewhere --what x
says show l --ledger-key k --dataset none
says show l
says burn l
says show l --against x
cellar key create other >/dev/null
says show l --ledger-key other
LC_ALL=C sed -i 's/"edition":"revised"/"edition":"Revised"/g' l
says verify l --ledger-key k
cellar ledger verify l --ledger-key k 2>/dev/null
echo "exit $?"
