# SPDX-License-Identifier: GPL-3.0-or-later
# Propensity models. In the same records R 4.2.2 finds by glm(released ~ (a + b + c)^2, binomial) pMSE 0.0283300006233, ratio
# 3.96840462511, standardised 10.0663498455; by rpart(method = "anova", cp = 1e-8, minbucket = 5, minsplit = 15) 0.0597795197391,
# and over 300 exchanges of labels the ratio to 1 - c times their mean 5.99 to 6.08 (ten of them have a standard error of 0.17).
awk 'BEGIN { print "a,b,c,count"
    for (a = 0; a < 3; a++) for (b = 0; b < 4; b++) for (c = 0; c < 3; c++)
        print a "," b "," c "," (a * 7 + b * 5 + c * 3 + a * b * c) % 11 }' >true.csv
awk 'BEGIN { print "a,b,c,count"
    for (a = 0; a < 3; a++) for (b = 0; b < 4; b++) for (c = 0; c < 3; c++)
        print a "," b "," c "," (a * 5 + b * 8 + c * 2 + a * c) % 13 }' >other.csv
cellar tabulate true.csv --by a,b,c --count count --domain-public -o true.json 2>/dev/null
cellar utility true.json other.csv --propensity both --csv results |
    awk -F, '/pmse_(logistic|tree)/ { printf "%s %.10g\n", $1, $3 }'
# A model with too many parameters is refused before anything is measured.
awk 'BEGIN { print "a,b,count"; for (i = 0; i < 40; i++) for (j = 0; j < 40; j++) print i "," j "," (i + j) % 3 }' >wide.csv
cellar tabulate wide.csv --by a,b --count count --domain-public -o wide.json 2>/dev/null
cellar utility wide.json wide.csv --propensity logistic 2>&1
echo "exit $?"
cellar utility true.json other.csv --propensity forest 2>&1
echo "exit $?"
# On the screen where a propensity model is asked for.
cellar utility true.json other.csv --propensity tree | grep -E '^(pmse|voas|freeman|jensen)'
gzip -k other.csv
cellar utility true.json other.csv.gz 2>&1
echo "exit $?"
