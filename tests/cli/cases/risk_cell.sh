# SPDX-License-Identifier: GPL-3.0-or-later
# One group: "risk" that is luck, what the formula of the papers says, what-if with and without data.
round() { sed -n 's/^ *"\(measure\|method\|value\|precision\|false_claim\|baseline\)": "*\([^",]*\)"*,*$/\1 \2/p' |
    awk '$2 + 0 == $2 { printf "%s %.6f\n", $1, $2; next } { print }'; }
cellar risk cell --mechanism laplace:epsilon=0.01 --counts 3,0 --measure local --json | round
cellar risk cell --mechanism laplace:epsilon=0.01 --size 10 --shares 0.5,0.5 --json | round
cellar risk cell --mechanism gaussian:sigma=2 --size-model poisson:lambda=2.43 --prior 0.5,0.5 \
    --method exact --json | round
cellar risk cell --mechanism laplace --epsilon 0.1,1,10 --counts 3,0 --measure hard --csv |
    cut -d, -f1-5
cellar risk cell --mechanism truncated-laplace --vary m=2,4 --vary epsilon=0.5,1 --counts 1,0 \
    --measure local --csv --also-released | cut -d, -f1-6
# Simulated, within 5 standard errors of what is exact; and where the exact sum is too long.
cellar risk cell --mechanism laplace:epsilon=1 --counts 3,1,0 --method exact,simulate --copies 10000 --csv |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $2 ~ /exact/ { exact = $column["\"value\""]; next }
        { z = ($column["\"value\""] - exact) / $column["\"sd\""] * 100
          print $1, (z < 5 && z > -5 ? "meets" : "misses") }'
cellar risk cell --mechanism laplace:epsilon=1e-6 --counts 3,0 --measure hard --method exact 2>&1
cellar risk cell --mechanism laplace:epsilon=1e-6 --counts 3,0 --measure hard --method simulate \
    --copies 40000 --json | awk '/"value"/ { print ($2 + 0 > 0.365 && $2 + 0 < 0.385 ? "3/8" : $2) }'
