# SPDX-License-Identifier: GPL-3.0-or-later
# Rows that stand for several records, in the form of R's as.data.frame(table): 97 people in 8 rows.
file=$DATA/aggregated.csv
answer() { # prints messages too, and the status
    "$@" 2>&1 | sed "s|$DATA/||g"
}
echo "refused until --count decides:"
answer cellar tabulate "$file" --by sex
answer cellar describe "$file"
answer cellar exposure table "$file" --columns district,sex --k 5
answer cellar risk table "$file" --qid district,sex --sensitive illness --mechanism discrete-laplace:epsilon=1
echo "counted:"
answer cellar tabulate "$file" --by district,sex --count Freq --margins total --domain-public
answer cellar tabulate "$file" --by sex --count none --domain-public
answer cellar describe "$file" --count Freq --levels 0 --columns district
cellar tabulate "$file" --by sex --count Freq --json 2>/dev/null | head -4
answer cellar exposure table "$file" --columns district,sex,illness --k 5 --count Freq | sed -n 1,8p
answer cellar exposure table "$file" --columns district,sex,illness --k 5 --missing-as wildcard --count Freq |
    sed -n 1,8p
answer cellar exposure bound "$file" --columns district,sex --k 5 --count Freq | sed -n 1,5p
answer cellar exposure select "$file" --columns district,sex,illness --k 3 --exposure 0.02 --count Freq | sed -n 1,5p
answer cellar exposure suppress "$file" --columns district,sex,illness --k 3 --exposure 0.02 --hide 1 --count Freq |
    sed -n 1,5p
answer cellar risk table "$file" --qid district,sex --sensitive illness --count Freq \
    --mechanism discrete-laplace:epsilon=1 | sed -n 1,5p
echo "any number of threads:"
cellar tabulate "$file" --by district,sex --count Freq --threads 1 >one 2>/dev/null
cellar tabulate "$file" --by district,sex --count Freq --threads 8 2>/dev/null | cmp - one && echo the same
echo "weights are those of one record:"
sed 's/"Freq"$/"Freq","w"/; s/\([0-9]\)$/\1,2.5/' "$file" >weighted.csv
answer cellar tabulate weighted.csv --by sex --count Freq --weight w --max-weight 2 --domain-public
echo "what cannot be:"
answer cellar tabulate "$file" --by sex --count Freq --unit district --max-per-unit 2
answer cellar tabulate "$file" --by sex --count Freq --record-key district
answer cellar tabulate "$file" --by sex --count frequency
for wrong in -1 1.5 many '' 9007199254740993; do
    printf 'sex,Freq\nf,3\nm,%s\n' "$wrong" >wrong.csv
    answer cellar tabulate wrong.csv --by sex --count Freq
done
answer cellar tabulate wrong.csv --by sex --count Freq --bad-rows skip --domain-public
printf 'sex,Freq\nf,3.0\nm,1e2\n' >fractions.csv
answer cellar tabulate fractions.csv --by sex --count Freq --domain-public
echo "n:"
printf 'sex,n\nf,3\nm,2\n' >n.csv
answer cellar tabulate n.csv --by sex --domain-public
answer cellar tabulate n.csv --by sex --domain-public --count none
answer cellar tabulate n.csv --by sex --domain-public --count n
answer cellar describe n.csv | tail -2
printf 'sex,n\nf,3\nm,0\n' >n.csv
answer cellar tabulate n.csv --by sex --domain-public
echo "our own files:"
cellar tabulate "$file" --by sex --count Freq --domain-public -o t.csv 2>/dev/null
cellar tabulate "$file" --by sex --count Freq --domain-public -o t.json 2>/dev/null
cellar tabulate "$file" --by sex --count Freq --domain-public -o t.px 2>/dev/null
answer cellar tabulate t.csv --by sex
answer cellar tabulate t.json --by sex
answer cellar tabulate t.px --by sex
answer cellar exposure table t.json --columns sex --k 5 --count sex
cellar protect t.json --mechanism discrete-laplace:epsilon=1 --negatives zero -o r.csv 2>/dev/null
answer cellar tabulate r.csv --by sex --count released
rm r.csv.cellar.json
answer cellar tabulate r.csv --by sex
