# SPDX-License-Identifier: GPL-3.0-or-later
# Releases, estimates and tables of a cube become spreadsheets with the same values as a CSV, with what they are and
# how they are protected first. True counts do not, and a spreadsheet is not read back.
python=/usr/bin/python3
$python -c 'import openpyxl' 2>/dev/null || { echo "python3-openpyxl is not installed"; exit 77; }
check() { $python "$SOURCE/tests/cli/check_sheets.py" "$@"; }
printf 'code,label,role\n=1+1,<Women & girls>,\n07,"  ""Men"", and\n boys",\nT,All,total\n' >sex.csv
printf 'code\nx\ny\n' >kind.csv
printf 'sex,kind,count\n=1+1,x,5\n07,x,12\n07,y,4\n' >data.csv
cellar tabulate data.csv --count count --by sex,kind --domain sex=sex.csv --domain kind=kind.csv --margins all \
    -o true.json 2>/dev/null
cellar ledger create l --dataset d --unit person --neighbours add-remove --epsilon 9 >/dev/null
protect() { cellar protect true.json --date 2026-07-01 "$@" 2>/dev/null; }
protect --mechanism discrete-laplace --total-epsilon 2 --negatives keep --ledger l --dataset d -o paid.ods
$python - <<END
import json, xml.etree.ElementTree, zipfile
text = " ".join(xml.etree.ElementTree.fromstring(zipfile.ZipFile("paid.ods").read("content.xml")).itertext())
assert json.load(open("paid.ods.cellar.json"))["ledger"] in text and "for one person: epsilon 2" in text
END
protect --mechanism identity --accept no-protection --per-cell --negatives zero --threshold 5 --below suppress --title "Women and men" --units persons -o kept.json
for ending in csv ods xlsx; do cellar convert kept.json -o kept.$ending 2>/dev/null; done
check kept.csv kept.ods kept.xlsx
protect --mechanism discrete-laplace --total-epsilon 2 --negatives keep -o noisy.json
for ending in csv ods xlsx; do
    cellar fit noisy.json -o whole.$ending --estimates est.$ending --sd >/dev/null 2>&1
done
check whole.csv whole.ods whole.xlsx
check est.csv est.ods est.xlsx
echo "# true counts, and reading"
cellar tabulate data.csv --count count --by sex -o true.ods 2>&1
cellar convert true.json -o true.xlsx 2>&1
cellar convert kept.ods -o back.csv 2>&1
cellar fit kept.xlsx 2>&1
cellar protect true.json --mechanism identity --accept no-protection --per-cell --negatives keep --format ods -o - 2>&1
ls true* back* 2>/dev/null
echo "# signed"
mkdir pack
mv kept.ods kept.ods.cellar.json est.xlsx est.xlsx.cellar.json pack
cellar key create k >/dev/null
cellar key public k -o k.pub
cellar sign pack --key k --accept unaccounted --accept no-protection >/dev/null 2>&1 && cellar verify-release pack --key k.pub 2>&1 |
    sed 's/key [0-9a-f]*/key ID/'
rm pack/manifest.*
printf x >>pack/kept.ods
cellar sign pack --key k --accept unaccounted --accept no-protection 2>&1
rm -f pack/manifest.* pack/kept.ods.cellar.json
cellar sign pack --key k --accept unaccounted --accept no-protection 2>&1
echo "exit $?"
