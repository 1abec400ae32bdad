# SPDX-License-Identifier: GPL-3.0-or-later
# Which values to redact, with and without random redactions to hide the rule.
printf 'a,b,count\n0,0,400\n0,1,300\n1,0,200\n1,1,90\n2,0,3\n3,1,2\n3,0,5\n' >table.csv
cellar exposure suppress table.csv --columns a,b --k 5 --exposure 0.001 --hide 1
cellar exposure suppress table.csv --columns a,b --k 5 --exposure 0.001 --hide 0.5 --json
cellar exposure suppress table.csv --columns a,b --k 5 --exposure 0.001 --hide 0.5 --max-evaluations 2 --csv results
cellar exposure suppress table.csv --columns a,b --k 2000 --exposure 0.1 --hide 0.5; echo "exit $?"
cellar exposure suppress table.csv --columns a,b --k 5 --exposure 1 --hide 0.5 --csv list
