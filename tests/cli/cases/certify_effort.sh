# SPDX-License-Identifier: GPL-3.0-or-later
# A search that gives up takes a bound and says so; one that may look further finds a closer one.
cellar certify poisson:alpha=803 --epsilon 0.012 --effort 1 | grep '^epsilon'
cellar certify poisson:alpha=803 --epsilon 0.012 --effort 10 | grep '^epsilon'
cellar certify poisson:alpha=803 --epsilon 0.012 --effort=-1; echo "exit $?"
