# SPDX-License-Identifier: GPL-3.0-or-later
# A search that gives up takes a bound and says so; one that may go on finds the worst count.
cellar certify poisson:alpha=120 --epsilon 0.008 --effort 1 | grep '^epsilon'
cellar certify poisson:alpha=120 --epsilon 0.008 --effort 0 | grep '^epsilon'
cellar certify poisson:alpha=120 --epsilon 0.008 --effort=-1; echo "exit $?"
