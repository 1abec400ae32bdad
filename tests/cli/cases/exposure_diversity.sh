# SPDX-License-Identifier: GPL-3.0-or-later
# Statistical diversity and closeness of other people, with bands when the data are a sample.
printf 'code\na\nb\n' >group.csv
printf 'code\nflu\ncold\nnone\n' >illness.csv
awk 'BEGIN { print "group,illness"; for (i = 0; i < 20000; i++)
    print (i % 4 ? "a" : "b") "," (i % 4 == 0 && i % 100 ? "flu" : i % 3 == 0 ? "cold" : i % 3 == 1 ? "flu" : "none") }' >people.csv
ask="cellar exposure table people.csv --columns group --sensitive illness --k 5 --domain group=group.csv --domain illness=illness.csv"
$ask --population 10,1000 --diversity-l 3 --closeness-t 0.3 --csv results 2>/dev/null >plain.csv
python3 - plain.csv <<'EOF'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["measure"].startswith(("statistical_d", "statistical_c")):
        print(row["measure"], row["population"], row["l"], row["t"], "%.4f" % float(row["value"]), row.get("lower", "no band"))
EOF
for l in 1 2 4; do # nobody, some and all are in groups of fewer
    $ask --population 10 --diversity-l $l --delta 0.05 --csv results 2>/dev/null
done >band.csv
python3 - band.csv <<'EOF'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["measure"] == "statistical_diversity":
        print("%.4f in [%.4f, %.4f]" % tuple(float(row[key]) for key in ("value", "lower", "upper")))
EOF
$ask --population 10 --diversity-l 2 --closeness-t 1.1
cellar exposure table people.csv --columns group,illness --sensitive illness --k 5
$ask --diversity-l 2
$ask --closeness-t 0.5
