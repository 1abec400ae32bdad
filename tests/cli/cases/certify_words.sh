# SPDX-License-Identifier: GPL-3.0-or-later
# What a committee reads, refusals, and words that are never printed.
cellar certify discrete-laplace:epsilon=1 --epsilon 1,2 --unit person --population 1000 --explain
cellar certify poisson:alpha=0.1 --epsilon 1.5 --population 1000 --domain observed
cellar certify max-entropy:variance=1,m=2 --epsilon 1 | sed -n '/warning/p'
cellar certify laplace:epsilon=1 --invariant total; echo "exit $?"
cellar certify laplace:epsilon=1 --epsilon 1..2; echo "exit $?"
cellar certify laplace:epsilon=1 --epsilon x; echo "exit $?"
cellar certify laplace:epsilon=1 --epsilon 1e400; echo "exit $?"
cellar certify laplace:epsilon=1 --delta 2; echo "exit $?"
cellar certify; echo "exit $?"
for spec in identity laplace:epsilon=1 gaussian:sigma=2 poisson:alpha=1; do
    cellar certify $spec --epsilon 1 --delta 1e-6 --explain
done | grep -i -w -e safe -e anonymous -e risk-free || echo "no such word"
# Nothing lies between two bounds that are both infinite.
cellar certify truncated-laplace:epsilon=1,m=2 --cells 2 --delta 1e-6 | grep -e gap -e nan || echo "no gap"
