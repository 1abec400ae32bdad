# SPDX-License-Identifier: GPL-3.0-or-later
# What a Bayesian attacker believes about one released group, how often the guess is right, and what is refused.
cellar risk attribute --mechanism discrete-laplace:epsilon=1 --released 4,-1,0 --size 5 --prior 1,2,0.5
{
    echo town,ill
    for i in 1 2 3 4 5 6 7 8; do echo "a,yes"; done
    echo a,no
    for i in 1 2 3 4 5 6; do echo "b,no"; done
    echo b,yes
} >people.csv
cellar risk attribute people.csv --qid town --sensitive ill --mechanism discrete-laplace --epsilon 0.01,5 --prior 1,1 2>/dev/null
cellar risk attribute people.csv --qid town --sensitive ill --mechanism discrete-laplace:epsilon=5 --json 2>/dev/null |
    grep -c -e '"confidential": true' -e '"baseline": 0.5625'
try() {
    cellar risk attribute --mechanism laplace:epsilon=1 "$@" 2>&1
    echo "exit $?"
}
try
try people.csv --released 1,2 --size 3 --prior 1,1
try --released 1,2 --prior 1,1
try --released 1,2.5 --size 3 --prior 1,1
try --released 1,2 --size 3 --prior 1
try people.csv --qid town --sensitive ill --measure local
cellar risk attribute --mechanism identity --released 1,2 --size 4 --prior 1,1 2>&1
echo "exit $?"
cellar risk attribute people.csv --qid town --sensitive ill --mechanism multinomial-dirichlet:alpha=1 2>&1
echo "exit $?"
