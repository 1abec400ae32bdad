# SPDX-License-Identifier: GPL-3.0-or-later
# A certificate that its mechanism cannot have makes no page; a page says whether anybody signed.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" --margins all -o table.json 2>/dev/null
protect="cellar protect table.json --per-cell --negatives keep --date 2026-07-01 --force"
forge() { # what the file says, what it shall say
    $protect --mechanism $mechanism -o r.csv $accept 2>/dev/null
    grep -q "$1" r.csv.cellar.json || echo "nothing to forge"
    sed -i "s/$1/$2/" r.csv.cellar.json
    cellar report --public r.csv --force -o page.html 2>&1
    echo "exit $?"
}
mechanism=discrete-laplace:epsilon=2 accept=
echo "-- untouched"
forge '"2026-07-01"' '"2026-07-01"'
echo "-- smaller figures"
forge '"pure_epsilon": 8.0' '"pure_epsilon": 0.8'
forge '"epsilon": "8"' '"epsilon": "0.8"'
forge '"delta": 0.[0-9]*' '"delta": 0.000001'
forge '"cells_per_record": 4' '"cells_per_record": 1'
forge '"max_records": 1' '"max_records": 2'
mechanism=gaussian:sigma=4
forge '"epsilon": [1-9][0-9]*\.[0-9]\{6,\}' '"epsilon": 0.1'
forge '"pure_epsilon": null' '"pure_epsilon": 1.5'
echo "-- a better verdict, a better level"
mechanism=identity accept='--accept no-protection'
forge '"verdict": "fails"' '"verdict": "holds"'
forge '"no-protection"' '"guarantee"'
mechanism=round:base=3 accept=
forge '"no-guarantee"' '"guarantee"'
forge '"infinite_loss": 0.[0-9]*' '"infinite_loss": 0.0'
echo "-- another mechanism"
mechanism=poisson:alpha=1 accept='--accept large-epsilon'
forge '"spec": "poisson:alpha=1"' '"spec": "poisson:alpha=2"'
forge '"poisson:alpha=1"' '"poisson:alpha=1e80"'
forge '"poisson:alpha=1"' '"unheard-of"'
echo "-- a revision that nobody knows, and a file that is none"
mechanism=discrete-laplace:epsilon=2 accept=
forge '"revision": 1' '"revision": 2'
forge '"spec": "discrete-laplace:epsilon=2"' '"spec": "discrete-laplace:epsilon=2,file=x"'
echo "-- a charge that no ledger writes"
for stamp in paid 'cellar-ledger 1' "cellar-ledger 1 0123456789abcdef 0 $(printf %064d 0)" \
    "cellar-ledger 1 0123456789abcdef 7 $(printf %063d 0)" "cellar-ledger 1 0123456789abcdef 7 $(printf %064d 0) "; do
    forge '"unaccounted, not for publication"' "\"$stamp\""
done
echo "-- one that some ledger may have written: only that ledger knows"
forge '"unaccounted, not for publication"' "\"cellar-ledger 1 0123456789abcdef 7 $(printf %064d 0)\""
echo "-- larger figures are no lie"
mechanism=discrete-laplace:epsilon=2 accept=
forge '"pure_epsilon": 8.0' '"pure_epsilon": 9.0'

echo "-- not verified, and verified"
grep -o 'Not verified[^.]*' page.html
cellar key create agency.key >/dev/null
cellar key public agency.key -o agency.pub
mkdir pack
$protect --mechanism $mechanism -o pack/r.csv 2>/dev/null
cellar report --public pack/r.csv --verify agency.pub -o page2.html 2>&1
cellar sign pack --key agency.key --accept unaccounted >/dev/null 2>&1
cellar report --public pack/r.csv --verify agency.pub -o page2.html && grep -o 'Verified: [^.]*' page2.html |
    sed 's/key [0-9a-f]*/key ID/'
(cd pack && cellar report --public r.csv --verify ../agency.pub -o ../page3.html) && ls page3.html
sed -i 's/"date": "2026-07-01"/"date": "2026-07-02"/' pack/r.csv.cellar.json
cellar report --public pack/r.csv --verify agency.pub -o page4.html 2>&1
cellar report table.json --verify agency.pub --qid region --sensitive sex --mechanism identity 2>&1
exit 0
