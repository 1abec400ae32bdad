# SPDX-License-Identifier: GPL-3.0-or-later
# Tables for people, lists, and what is said about specs that are refused.
cellar mechanism
echo
cellar mechanism discrete-laplace:epsilon=1.0 --counts 0,2..3 --released -1..1
echo
cellar mechanism laplace:epsilon=1 --counts 0 --released=-1..1 --negatives zero
echo
cellar mechanism gaussian:epsilon=0.5,delta=1e-5,calibration=pdp --counts 0
for spec in laplce:epsilon=1 laplace laplace:epsilon=0 laplace:epsilom=1 gaussian:epsilon=1 \
    gaussian:epsilon=1,delta=1e-5,calibration=classic truncated-laplace:epsilon=1,m=2.5; do
    cellar mechanism $spec 2>&1
    echo "exit $?"
done
for counts in a 3..1 -1 1, 0..1000000; do
    cellar mechanism identity --counts=$counts 2>&1
    echo "exit $?"
done
