# SPDX-License-Identifier: GPL-3.0-or-later
# Every way to declare a domain gives the same table, without a warning.
by="--by region,sex --zeros"
file=$DATA/people.csv
cellar tabulate "$file" $by --domain "region=$DATA/lists/region.csv" \
    --domain "sex=$DATA/lists/sex.csv" >one
cellar tabulate "$file" $by --domain "$DATA/lists/region.csv" --domain "$DATA/lists/sex.csv" >two
cellar tabulate "$file" $by --domain "$DATA/lists" >three
cmp one two && cmp two three && cat one
