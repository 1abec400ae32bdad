# SPDX-License-Identifier: GPL-3.0-or-later
# Two releases of the same people become one table that adds. The noise is fresh every time, so
# the numbers are judged and not compared: fitted ones add and are not negative, unbiased ones add.
printf 'sex,region,count\nf,n,5\nf,s,0\nm,n,7\nm,s,3\n' >cells.csv
printf 'sex,count\nf,5\nm,10\n' >margin.csv
for name in cells margin; do
    cellar protect $name.csv --mechanism discrete-laplace:epsilon=0.5 --negatives keep \
        --domain-public -o $name.release.csv 2>/dev/null
done
cellar fit cells.release.csv margin.release.csv -o fitted.csv --comparison both.csv >text
sed -n '1p' text
grep -c 'the most precise' text
cellar fit margin.release.csv --max-move 1000 --json | sed 's/: [0-9.e-]*\(,\{0,1\}\)$/: NUMBER\1/' 
awk -F, 'NR > 1 { u[$1 $2] = $4; f[$1 $2] = $5; if ($5 < 0) print "negative" }
    function near(a, b) { return a - b < 1e-9 && b - a < 1e-9 }
    END { for (r in u) if (r ~ /_T$/ && r !~ /^_T/) { s = substr(r, 1, 1)
              print s, near(u[s "n"] + u[s "s"], u[r]), f[s "n"] + f[s "s"] == f[r] }
          print "total", near(u["f_T"] + u["m_T"], u["_T_T"]), f["f_T"] + f["m_T"] == f["_T_T"] }' both.csv | sort
head -n 1 fitted.csv both.csv
for arguments in fitted.csv cells.csv "cells.release.csv -o fitted.csv" "" \
    "cells.release.csv --max-move=-1" "cells.release.csv --max-move nan" \
    "cells.release.csv -o cells.release.csv --force" "cells.release.csv cells.release.csv" \
    "cells.release.csv -o two.csv --comparison two.csv" \
    "margin.release.csv cells.release.csv"; do
    cellar fit $arguments 2>&1
    echo "exit $?"
done
cellar protect cells.csv --mechanism discrete-laplace:epsilon=0.5 --negatives zero \
    --domain-public -o zero.csv 2>/dev/null
cellar fit zero.csv 2>&1
echo "exit $?"
cellar infer independence fitted.csv --rows sex --columns region 2>&1
echo "exit $?"
