# SPDX-License-Identifier: GPL-3.0-or-later
# - is standard input, and the number of threads changes nothing.
cellar tabulate - --by=region,sex <"$DATA/people.csv" >one
gzip -c "$DATA/people.csv" | cellar tabulate --threads 2 --by region,sex -- - >two
cmp one two && wc -l <one
