# SPDX-License-Identifier: GPL-3.0-or-later
file=$DATA/people.csv
cellar tabulate "$file" --by region,sex --margins all --domain-public 2>/dev/null
cellar tabulate "$file" --by region,sex --margins sex,total --domain-public 2>/dev/null
cellar tabulate "$file" --by region,sex --margins none --domain-public 2>/dev/null | wc -l
