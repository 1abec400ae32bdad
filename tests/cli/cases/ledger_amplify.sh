# SPDX-License-Identifier: GPL-3.0-or-later
# The cap of a sample for the population behind it, what it assumes, and what is refused.
cellar ledger create s.ledger --ledger-key s.key --dataset survey --unit person --neighbours add-remove \
    --epsilon 5 2>/dev/null
amplify="cellar ledger amplify s.ledger --ledger-key s.key --dataset survey"
$amplify --unit person --sampling poisson --sampling-rate 0.1
$amplify --unit person --sampling poisson --sampling-rate 0.1 --json | grep -c '"epsilon": 2.756'
try() {
    $amplify "$@" 2>&1
    echo "exit $?"
}
try --unit household --sampling poisson --sampling-rate 0.1
try --unit person --sampling without-replacement --sampling-rate 0.1
try --unit person --sampling poisson --sampling-rate 0.1 --panel
try --unit person --sampling poisson --sampling-rate 0.1 --calibrated-weights
try --unit person --sampling poisson --sampling-rate 2
try --unit person --sampling poisson
