# SPDX-License-Identifier: GPL-3.0-or-later
# The table as CSV on standard output; standard error tells the rows and what was not declared.
cellar tabulate "$DATA/people.csv" --by region,sex
