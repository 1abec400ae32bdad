# SPDX-License-Identifier: GPL-3.0-or-later
cellar tabulate "$DATA/people.csv" --by sex --weight weight --domain-public
