# SPDX-License-Identifier: GPL-3.0-or-later
# The size of a table before it is counted, and the levels.
cellar describe "$DATA/people.csv" --by region,sex,age --levels 2
