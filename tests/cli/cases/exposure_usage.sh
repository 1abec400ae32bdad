# SPDX-License-Identifier: GPL-3.0-or-later
# What is wrong is named, and nothing is guessed.
printf 'a,b,count\n0,0,4\n1,1,5\n' >table.csv
printf 'a,b,released\n0,0,4\n1,1,5\n' >release.csv
say() { cellar exposure "$@" 2>&1; echo "exit $?"; }
say
say tabel table.csv
say shares
say shares --shares 0.5,0.6
say shares --shares 0.5,x
say shares --shares 0.5,0.5 --k 2
say shares --shares 0.5,0.5 --threshold 2
say table table.csv --columns a
say table table.csv --columns a,z --k 2
say table table.csv --k 2
say table table.csv --columns a --k 0
say table table.csv --columns a --k 2 --band a=5
say table release.csv --columns a --k 2
say table table.csv --columns a --threshold 0.1..1
say table table.csv --columns a --threshold 0.1 --delta 2
say select table.csv --columns a,b --k 2
say select table.csv --columns a,b --k 2 --exposure 0.1 --must z
say select table.csv --columns a,b --k 2 --exposure 0.1 --weight a=0
say suppress table.csv --columns a,b --k 2 --exposure 0.1
say suppress table.csv --columns a,b --k 2 --exposure 0.1 --hide 0
say bound table.csv --columns a,b --json --csv results
say bound table.csv --columns a,b --delta x # of another part, right or wrong
say table table.csv --columns a,b --k 2 --hide 2
say shares --shares 0.5,0.5 --columns a
say select nowhere.csv --columns a,b --k 2 --exposure 2 # said before the file is looked for
say select nowhere.csv --columns a,b --k 2 --exposure 0.1 --weight a=1 --weight a=2
say select nowhere.csv --columns a,b --k 2 --exposure 0.1 --must a --must-not b,a
say select nowhere.csv --columns a,b --k 2 --exposure 0.1 --population 5
say suppress nowhere.csv --columns a,b --k 2 --exposure 0.1 --hide 1.5
say table nowhere.csv --columns a,a --k 2
say table nowhere.csv --columns '' --k 2
say table nowhere.csv --columns a --threshold 0
say table nowhere.csv --columns a --threshold 1e-400
say table nowhere.csv --columns a --threshold 0.1 --csv list
say bound table.csv --columns a --csv list
say bound table.csv --columns a --k 100
say select table.csv --columns a --k 2 --exposure 0.1 --missing-as wildcard
say table table.csv --columns a --k 2 --domain z=list.csv
say shares --shares 0.5,0.4999 --threshold 0.1
say shares --shares 0.5,0.5 --tight-example 3
say shares --tight-example 9 --threshold 0.1
