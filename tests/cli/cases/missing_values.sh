# SPDX-License-Identifier: GPL-3.0-or-later
# Missing values by variable, in drafts of code lists, and in domains that a recode implies.
printf 'sex,income,age\nF,1,20\n,2,30\nNA,3,\nM,.,70\n' >gaps.csv
echo "# describe names what to write"
cellar describe gaps.csv --write-codelist sex=draft.csv 2>/dev/null | sed -n '/values are/,$p'
cellar describe gaps.csv --missing NA --columns sex --write-codelist sex 2>/dev/null >/dev/null
cat sex.csv
echo "# a level for one variable, dropped for another"
cellar tabulate gaps.csv --by sex,income --missing NA --missing . --missing-as level --missing-as income=drop \
    --domain sex.csv 2>/dev/null
echo "# a banded variable stays declared"
cellar tabulate gaps.csv --by age --missing-as level --bottom age=20 --top age=60 --band age=20 --json -o t.json 2>/dev/null |
    grep -e '"domain"' -e '"categories"'
cellar tabulate gaps.csv --by age --missing-as level --bottom age=20 --top age=60 --band age=20 --zeros 2>/dev/null
