# SPDX-License-Identifier: GPL-3.0-or-later
# The data file is never replaced, whatever --force says; a link to it may be. A column's name does not
# choose a folder.
printf 'sex,a/b\nf,1\nm,2\nf,1\n' >data.csv
ln -s data.csv link.csv
run() { cellar "$@"; echo "exit $?"; }
run tabulate data.csv --by sex --domain-public -o ./data.csv --force
run describe data.csv -o data.csv --force
run describe data.csv --write-codelist sex=data.csv --force
run describe data.csv --write-codelist a/b
cat data.csv
run tabulate data.csv --by sex --domain-public -o link.csv --force
cat data.csv link.csv
