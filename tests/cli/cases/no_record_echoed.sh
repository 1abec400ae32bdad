# SPDX-License-Identifier: GPL-3.0-or-later
# A file without a header: its first record is taken for names, and no message repeats a value.
printf 'Miller,diabetes,diabetes\nSmith,asthma,none\n' >twice.csv
printf 'Miller,diabetes,1964\nSmith,asthma,1970\n' >people.csv
try() {
    cellar "$@" 2>&1
    echo "exit $?"
}
try tabulate twice.csv --by disease
try tabulate people.csv --by Muller
try tabulate people.csv --by diabetis --where 'Miler=1'
try describe people.csv --by diabets
try tabulate people.csv --by Miller --domain Miller=people.csv
try tabulate people.csv --by Miller --recode Miller=people.csv
try protect people.csv --mechanism laplace:epsilon=1 --negatives keep -o out.csv
try risk table people.csv --qid Miler --sensitive diabetes --mechanism laplace:epsilon=1
try exposure table people.csv --columns Miler --k 2
# Codes that were read off the data are not suggested, either.
printf 'sex,disease\nf,diabetes\nm,asthma\n' >headed.csv
echo 'sex = f & disease = diabetis' >rules
try tabulate headed.csv --by sex,disease --structural-zeros rules
