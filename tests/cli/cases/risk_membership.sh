# SPDX-License-Identifier: GPL-3.0-or-later
# The power of the best test of whether somebody is in the data.
cellar risk membership --mechanism discrete-laplace --epsilon 0.1,1 --level 0.05
cellar risk membership --mechanism discrete-gaussian:sigma=2 --level 0.01 --cells 2 --json | grep -c '"power": 0.0'
cellar risk membership --mechanism laplace:epsilon=1 --level 1.5 2>&1
echo "exit $?"
cellar risk membership --mechanism laplace:epsilon=1 --counts 1,2 2>&1
echo "exit $?"
cellar risk cell --mechanism laplace:epsilon=1 --counts 1,2 --level 0.1 2>&1
echo "exit $?"
