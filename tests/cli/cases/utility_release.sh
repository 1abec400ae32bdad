# SPDX-License-Identifier: GPL-3.0-or-later
# A release against its table; nothing is random here, so expectations equal what was found.
printf 'code\nf\nm\n' >sex.csv
printf 'code\nyes\nno\n' >job.csv
printf 'sex,job,count\nf,yes,12\nf,no,3\nm,yes,9\nm,no,1\n' >table.csv
domains='--domain sex=sex.csv --domain job=job.csv'
cellar protect table.csv $domains --mechanism identity --accept no-protection --negatives zero --threshold 4 -o release.csv 2>/dev/null
cellar utility table.csv release.csv $domains --ways 2 --counts 0,3 --within 0
cellar utility table.csv table.csv --csv results | sed -n 2p # without a certificate: as of any program
cellar utility release.csv release.csv 2>&1
cellar utility table.csv release.csv --mechanism identity 2>&1
printf 'sex,job,count\nf,yes,12\nf,no,3\n' >half.csv
cellar utility half.csv release.csv 2>&1
