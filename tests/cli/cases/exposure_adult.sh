# SPDX-License-Identifier: GPL-3.0-or-later
# The published example, when the data is at hand: 131 cells, people below thresholds and k, the
# entropy, and the least of Theorems 2 and 3.
file=$SOURCE/../shared/data/adult.csv
[ -e "$file" ] || { echo "the Adult data is not here"; exit 77; }
columns=sex,income,race,workclass
thresholds=1e-4,1e-3,1e-2,1e-1
cellar exposure table "$file" --columns $columns --threshold $thresholds --k 2,5,10,100 --json \
    2>/dev/null | sed -n 's/^ *"\(people\|cells\|records\)": \([0-9]*\),*/\1 \2/p'
cellar exposure table "$file" --columns $columns --threshold 1 --json 2>/dev/null |
    awk '/"entropy"/ { getline; printf "%.10f\n", substr($2, 1) }'
cellar exposure bound "$file" --columns $columns --threshold $thresholds --csv results 2>/dev/null |
    awk -F, '$1 == "\"bound\"" && n++ % 2 == 0 { printf "%.6f\n", $4 }'
