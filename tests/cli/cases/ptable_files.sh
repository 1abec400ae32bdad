# SPDX-License-Identifier: GPL-3.0-or-later
# A matrix written in each layout reads back as the same; existing files stay.
cellar ptable design --variance 1.5 --m 3 --min 1 --form at-most --mono -o a.csv >design
cellar ptable show a.csv | grep -v '^max-entropy' >shown
grep -v '^max-entropy' design | diff - shown && echo "the same"
ls -l a.csv | cut -c1-10
head -4 a.csv
cellar ptable show a.csv --format cantabular -o b.csv | sed -n '1,3p'
head -6 b.csv
cellar ptable show b.csv --format ptable -o c.csv >/dev/null
cellar ptable show c.csv --format cantabular --keys 256 -o - | diff - b.csv && echo "the same again"
cellar ptable show b.csv --format ons -o d.csv >/dev/null
wc -l <d.csv
cellar ptable show d.csv | sed -n '2,3p'
cellar ptable show d.csv --large last --json | sed -n '2,7p'
cellar ptable show a.csv -o b.csv 2>&1 >/dev/null
echo "exit $?"
cellar mechanism ptable:file=./a.csv --counts 1 --released 0..2 --json | sed -n '2,3p;5,9p'
