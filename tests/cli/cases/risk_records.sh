# SPDX-License-Identifier: GPL-3.0-or-later
# The papers' groups from the papers' data, when it is at hand: 5,009 groups of Adult, 78 of Bankruptcy.
data=$SOURCE/../shared/data
[ -e "$data/adult.csv" ] || { echo "the data is not here"; exit 77; }
pick='s/^ *"\(groups\|homogeneous\|heterogeneous\|levels\|records\|value\|original\)": \([^,]*\),*/\1 \2/p'
cellar risk table "$data/adult.csv" --qid age,relationship,education,race,sex,hours-per-week \
    --sensitive income --mechanism laplace:epsilon=1 --band age=5 --band hours-per-week=10 \
    --band-closed right --missing '?' --where native-country=United-States --where 'workclass!=?' \
    --where 'occupation!=?' --json 2>/dev/null |
    sed -n "$pick" | awk '{ printf "%s %.6g\n", $1, $2 }'
cellar risk table "$data/bankruptcy.csv" --sensitive Financial_Flexibility --mechanism laplace \
    --qid Industrial_Risk,Management_Risk,Credibility,Competitiveness,Operating_Risk \
    --epsilon 0.1,0.5,1,10 --measure expected --method exact,published --json 2>/dev/null |
    sed -n "$pick" | awk '{ printf "%s %.6g\n", $1, $2 }'
