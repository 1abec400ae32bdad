# SPDX-License-Identifier: GPL-3.0-or-later
# Two releases of the same people become one table that adds. The noise is fresh every time, so
# the numbers are judged and not compared: fitted ones add and are not negative, unbiased ones add.
printf 'sex,region,count\nf,n,5\nf,s,0\nm,n,7\nm,s,3\n' >cells.csv
printf 'sex,count\nf,5\nm,10\n' >margin.csv
for name in cells margin; do
    cellar protect $name.csv --mechanism discrete-laplace:epsilon=0.5 --negatives keep \
        --domain-public -o $name.release.csv 2>/dev/null
done
cellar fit cells.release.csv margin.release.csv --margins all -o fitted.csv --comparison both.csv \
    --estimates estimates.csv --sd >text
sed -n '1s/-*[0-9.]*,/NUMBER,/; 1s/[0-9]*[.]$/NUMBER./; 1p; 3s/  */ /gp' text
grep -c 'the most precise' text
cellar fit margin.release.csv --max-move 1000 --json | sed 's/: [0-9.e-]*\(,\{0,1\}\)$/: NUMBER\1/' 
awk -F, 'NR > 1 { u[$1 $2] = $4; f[$1 $2] = $6; if ($6 < 0) print "negative" }
    function near(a, b) { return a - b < 1e-7 && b - a < 1e-7 }
    END { for (r in u) if (r ~ /_T$/ && r !~ /^_T/) { s = substr(r, 1, 1)
              print s, near(u[s "n"] + u[s "s"], u[r]), f[s "n"] + f[s "s"] == f[r] }
          print "total", near(u["f_T"] + u["m_T"], u["_T_T"]), f["f_T"] + f["m_T"] == f["_T_T"] }' both.csv | sort
head -n 1 fitted.csv both.csv estimates.csv
# Without being asked, only the margins that were released are fitted.
cellar fit cells.release.csv margin.release.csv --json | grep -c '"sex": "_T"'
cellar fit cells.release.csv margin.release.csv --json | grep -c '"region": "_T"'
for arguments in fitted.csv estimates.csv cells.csv "cells.release.csv -o fitted.csv" "" \
    "cells.release.csv --max-move=-1" "cells.release.csv --max-move nan" \
    "cells.release.csv -o cells.release.csv --force" "cells.release.csv cells.release.csv" \
    "cells.release.csv -o two.csv --comparison two.csv" \
    "cells.release.csv --estimates two.csv --comparison two.csv" \
    "cells.release.csv --max-cells 3" "cells.release.csv --margins some" \
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
# Fitted tables and estimates in every format are for others to read; changed ones are not.
mkdir pack
for format in csv json px; do
    cellar fit cells.release.csv -o pack/fitted.$format --sd --estimates pack/estimates.$format >/dev/null
done
cellar key create sign.key >key.txt
cellar sign pack --key sign.key --accept unaccounted --json 2>/dev/null | grep -E 'releases|estimates'
sed -i '2s/,[^,]*,/,99.5,/' pack/estimates.csv
rm pack/manifest.*
cellar sign pack --key sign.key --accept unaccounted 2>&1
echo "exit $?"
