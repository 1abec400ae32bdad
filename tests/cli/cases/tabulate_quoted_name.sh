# SPDX-License-Identifier: GPL-3.0-or-later
printf '"a,b",c\n1,2\n' >odd.csv
cellar tabulate odd.csv --by '"a,b",c' --band '"a,b"=5' 2>&1
cellar tabulate odd.csv --by '"a,b",c' --band 'a,b=5' --domain-public
