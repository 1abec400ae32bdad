# SPDX-License-Identifier: GPL-3.0-or-later
# The first two records of each unit count.
cellar tabulate "$DATA/people.csv" --by region --unit id --max-per-unit 2 --domain-public
