# SPDX-License-Identifier: GPL-3.0-or-later
# A draft per column, said to be one, and not written over an old list; it serves as a domain.
run() { cellar describe "$DATA/people.csv" --columns region,sex "$@" >/dev/null; echo "exit $?"; }
run --write-codelist region --write-codelist sex=women_and_men.csv
cat region.csv women_and_men.csv
run --write-codelist region
run --write-codelist region --force
run --write-codelist regoin
cellar tabulate "$DATA/people.csv" --by region --domain region.csv
echo "# not before somebody has reviewed it; and then everybody is told"
protect="cellar protect table.json --mechanism discrete-laplace:epsilon=1 --negatives keep"
table="cellar tabulate $DATA/people.csv --by region --domain region.csv -o table.json --force"
$table
$protect -o release.csv
echo "exit $?"
sed -i '1s/$/ Ann <Example>/' region.csv
$table
$protect -o release.csv 2>/dev/null
echo "exit $?"
grep -o '"domain": "[a-z]*"\|categories were [^"]*' release.csv.cellar.json
cellar report --public release.csv -o page.html
grep -o 'drafted from the data, reviewed by [^:<]*' page.html
sed -i 1d region.csv # who removes the mark says that the list does not come from the data
$table
$protect -o declared.csv 2>/dev/null
grep -o '"domain": "[a-z]*"' declared.csv.cellar.json
