# SPDX-License-Identifier: GPL-3.0-or-later
# A value outside the list: the line and column, not the value.
cellar tabulate "$DATA/people.csv" --by region --domain "$DATA/short.csv"
