# SPDX-License-Identifier: GPL-3.0-or-later
cellar tabulate "$DATA/people.csv" --by sex --domain-public --where 'region=1|2' --where 'age>=20'
