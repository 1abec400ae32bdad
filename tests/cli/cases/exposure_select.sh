# SPDX-License-Identifier: GPL-3.0-or-later
# Which columns can go out together: weights, lists of musts, runners-up, what others would cost.
awk 'BEGIN { print "a,b,c,d"; for (i = 0; i < 600; i++)
    print i % 2 "," int(i / 2) % 3 "," int(i / 7) % 11 "," i % 97 }' >people.csv
cellar exposure select people.csv --columns a,b,c,d --k 5 --exposure 0.1 2>/dev/null
cellar exposure select people.csv --columns a,b,c,d --k 5 --exposure 0.1 --weight d=9 --must b \
    --must-not c --runners-up 1 --json 2>/dev/null
cellar exposure select people.csv --columns a,b,c --k 5 --exposure 0.3 --measure bounded \
    --csv results 2>/dev/null
cellar exposure select people.csv --columns a,d --k 5 --exposure 0 --must d --csv results 2>/dev/null
cellar exposure select people.csv --columns a,d --k 50 --exposure 0 --must d 2>/dev/null; echo "exit $?"
# Long names are shown whole; a list without items has its header.
awk 'BEGIN { for (c = 1; c <= 9; c++) printf("%sa_column_with_a_long_name_%d", c == 1 ? "" : ",", c)
    print ""; for (i = 0; i < 90; i++) print "1,1,1,1,1,1,1,1," i % 9 }' >wide.csv
all=$(head -1 wide.csv)
cellar exposure select wide.csv --columns "$all" --k 5 --exposure 0 2>/dev/null | head -8
cellar exposure select wide.csv --columns "$all" --k 5 --exposure 0 --csv list 2>/dev/null
