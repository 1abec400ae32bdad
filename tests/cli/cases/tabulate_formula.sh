# SPDX-License-Identifier: GPL-3.0-or-later
cellar tabulate "$DATA/formula.csv" --by sex --domain-public 2>/dev/null
cellar tabulate "$DATA/formula.csv" --by sex --domain-public --neutralise-formulas 2>/dev/null
