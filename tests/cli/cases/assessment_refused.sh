# SPDX-License-Identifier: GPL-3.0-or-later
# Assessments are confidential: nothing that writes a publication takes one for a table or a release.
printf 'region,sex,health,count\nn,f,ok,5\nn,f,ill,1\nn,m,ok,3\ns,f,ill,4\ns,m,ok,1\ns,m,ill,1\n' >t.csv
who="--qid region,sex --sensitive health"
cellar risk table t.csv $who --mechanism laplace:epsilon=1 --json -o risk.json
cellar risk table t.csv $who --mechanism laplace:epsilon=1 --csv -o risk.csv --groups groups.csv
cellar risk table t.csv $who --mechanism laplace:epsilon=1 -o risk.txt
cellar risk table t.csv $who --mechanism laplace --target 0.4 --json -o target.json
cellar utility t.csv $who --mechanism laplace:epsilon=1 --copies 0 --json -o utility.json
cellar utility t.csv $who --mechanism laplace:epsilon=1 --copies 0 --csv results -o utility.csv
cellar exposure table t.csv --columns region,sex --k 2 --json -o exposure.json 2>/dev/null
for file in risk.json risk.csv risk.txt groups.csv target.json utility.json utility.csv exposure.json; do
    cellar protect $file --mechanism laplace:epsilon=1 --negatives keep --per-cell --domain-public \
        -o out.csv 2>/dev/null
    protect=$?
    cellar infer independence $file --rows region --columns sex >/dev/null 2>&1
    infer=$?
    cellar utility t.csv $file >/dev/null 2>&1
    echo "$file mode $(stat -c %a $file): protect $protect, infer $infer, utility $?"
done
ls out.csv 2>/dev/null
echo end
