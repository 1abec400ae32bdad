# SPDX-License-Identifier: GPL-3.0-or-later
# An assertion replaces the warning.
cellar tabulate "$DATA/people.csv" --by sex --domain-public
