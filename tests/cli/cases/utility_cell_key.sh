# SPDX-License-Identifier: GPL-3.0-or-later
# Cell keys: the one copy that the records' keys make, beside expectations over fresh keys.
printf 'sex,key\nF,0.1\nF,0.25\nM,0.7\nM,0.4\nM,0.3\n' >people.csv
cellar tabulate people.csv --by sex --record-key key --domain "$DATA/lists" -o table.json 2>/dev/null
cellar ptable design --variance 2 --m 3 -o matrix.csv 2>/dev/null >/dev/null
cellar utility table.json --mechanism cell-key:file=matrix.csv --counts 0,2,3 --within 1 --ways 0 | head -15
cellar protect table.json --mechanism cell-key:file=matrix.csv --negatives keep -o a.csv 2>/dev/null
cellar utility table.json --mechanism cell-key:file=matrix.csv --csv results | cut -d, -f1-3 >simulated
cellar utility table.json a.csv --csv results | cut -d, -f1-3 >released
cmp simulated released && echo the same
