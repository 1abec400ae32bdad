# SPDX-License-Identifier: GPL-3.0-or-later
# Delimiters, a file without header, encodings.
cellar tabulate "$DATA/semicolon.csv" --delimiter ';' --by region,sex --domain-public
cellar tabulate "$DATA/plain.tsv" --no-header --by V1,V2 --domain-public
cp "$DATA/plain.tsv" plain.txt
cellar tabulate plain.txt --no-header --delimiter tab --by V1 --domain-public 2>/dev/null >one
cellar tabulate plain.txt --no-header --delimiter '\t' --by V1 --domain-public 2>/dev/null | cmp - one
cellar tabulate "$DATA/legacy.csv" --encoding windows-1252 --by region --domain-public 2>/dev/null
cellar tabulate "$DATA/legacy.csv" --encoding latin1 --by sex --domain-public 2>/dev/null
cellar tabulate "$DATA/legacy.csv" --by region --domain-public
