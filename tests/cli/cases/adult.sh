# SPDX-License-Identifier: GPL-3.0-or-later
# The published example, when the data is at hand: 27,504 rows without "?" of people from the
# United States; six quasi-identifiers make 5,009 groups, and with income 5,974 cells.
file=$SOURCE/../shared/data/adult.csv
[ -e "$file" ] || { echo "the Adult data is not here"; exit 77; }
count() {
    cellar tabulate "$file" --by "$1" --band age=5 --band hours-per-week=10 --band-closed right \
        --where 'workclass!=?' --where 'occupation!=?' --where 'native-country=United-States' \
        --missing '?' --missing-as drop --json 2>/dev/null |
        sed -n 's/^ *"\(counted\|cells\)": \([0-9]*\),*/\1 \2/p'
}
qid=age,relationship,education,race,sex,hours-per-week
count $qid,income
count $qid
