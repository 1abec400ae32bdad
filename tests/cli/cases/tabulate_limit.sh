# SPDX-License-Identifier: GPL-3.0-or-later
cellar tabulate "$DATA/people.csv" --by region,sex --limit 2 2>/dev/null
cellar tabulate "$DATA/people.csv" --by sex --weight weight --limit 0 2>/dev/null
