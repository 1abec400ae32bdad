# SPDX-License-Identifier: GPL-3.0-or-later
# Value labels of an SPSS file with missing values lead to a release, dropped or as a level.
python3 "$DATA/labelled_sav.py" >people.sav
cellar tabulate people.sav --by SEX --domain-labels 2>&1
for how in drop level; do
    cellar tabulate people.sav --by SEX --domain-labels --missing-as $how -o $how.json 2>&1
    cellar protect $how.json --mechanism laplace:epsilon=1 --negatives keep -o $how.csv --zeros 2>/dev/null
    echo "$how: exit $?"
    cut -d, -f1 $how.csv
done
cellar describe people.sav --write-codelist SEX 2>/dev/null >/dev/null
cat SEX.csv
# Other verbs that read records start the reader of such files too.
cellar store build people.sav --columns SEX -o people.store 2>&1
