# SPDX-License-Identifier: GPL-3.0-or-later
# The small country: the same people each time, files that fit together, nothing overwritten.
cellar demo-data country --people 1000 2>&1
find country -type f | sort
head -n 4 country/people.csv
wc -l <country/standin.csv
cmp -s country/people.csv country/standin.csv || echo "other people stand in"
cellar demo-data country --people 10 2>&1
echo "exit $?"
cellar demo-data other --people 1000 --seed 2 2>/dev/null
cmp country/standin.csv other/people.csv && echo "the stand-in has the next seed"
cellar tabulate country/people.csv --by region,diagnosis --domain country/codelists --where region=Sound 2>&1 | head -n 3
cellar plan check country/plans/small_country.yaml >/dev/null && echo "the plan can be checked"
mkdir shared && chmod 0775 shared && (cd shared && cellar demo-data --people 10) 2>&1
ls shared | wc -l # a folder that is refused stays empty
cellar demo-data a b 2>&1
