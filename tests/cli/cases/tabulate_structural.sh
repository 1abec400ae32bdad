# SPDX-License-Identifier: GPL-3.0-or-later
# A rule that the data obeys, and one that it does not.
list="--domain region=$DATA/lists/region.csv"
cellar tabulate "$DATA/people.csv" --by region $list --zeros --structural-zeros "$DATA/zeros_free.txt"
cellar tabulate "$DATA/people.csv" --by region,sex $list --structural-zeros "$DATA/zeros.txt"
