# SPDX-License-Identifier: GPL-3.0-or-later
# Numbers without protection do not leave unawares, and every file then says what they are.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" -o table.json 2>/dev/null
printf 'sex,key\nF,0.1\nF,0.25\nM,0.7\n' >keys.csv
cellar tabulate keys.csv --by sex --record-key key --domain "$DATA/lists" -o keyed.json 2>/dev/null
printf 'i;j;p;v;p_int_ub\n0;0;1;0;1\n1;1;1;0;1\n' >exact.csv
printf 'i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.000001;-1;0.000001\n1;1;0.999999;0;1\n' >nearly.csv
cellar ptable design --variance 2 --m 3 -o matrix.csv 2>/dev/null >/dev/null
try() {
    cellar protect "$@" --negatives zero --date 2026-07-01 --force -o out.csv >/dev/null 2>said
    status=$?
    echo "$3: exit $status$(sed -n 's/.*"protection": \(.*\),/, \1/p' out.csv.cellar.json 2>/dev/null)"
    grep -e 'accept' said
    rm -f out.csv out.csv.cellar.json
}
for spec in identity round:base=1 ptable:file=exact.csv ptable:file=nearly.csv laplace:epsilon=10 \
    laplace:epsilon=10.1 laplace:epsilon=10000 gaussian:sigma=0.001 poisson:alpha=0.5 \
    discrete-laplace:epsilon=1 round:base=3 truncated-laplace:epsilon=1,m=4 \
    truncated-laplace:epsilon=13,m=1 multinomial-dirichlet:alpha=1e-9; do
    try table.json --mechanism $spec
done
for matrix in exact nearly matrix; do
    try keyed.json --mechanism cell-key:file=$matrix.csv
done
echo "-- accepted by name, and by the right one"
try table.json --mechanism identity --accept large-epsilon
try table.json --mechanism identity --accept no-protection
try table.json --mechanism laplace:epsilon=10000 --accept no-protection
try table.json --mechanism laplace:epsilon=10000 --accept large-epsilon
try keyed.json --mechanism cell-key:file=exact.csv --accept no-protection
try table.json --mechanism identity --accept all
cat said
echo "-- every file says it"
for format in csv json px sdmx csvw; do
    cellar protect table.json --mechanism identity --negatives keep --accept no-protection \
        --format $format -o out.$format 2>/dev/null
done
grep -l -e '"no-protection"' -e 'No protection, accepted' out.*
sed -n 1,2p out.sdmx
cellar report --public out.csv -o page.html
grep -o 'No protection, accepted[^<]*' page.html
echo "-- a plan"
cat >plan.yaml <<END
plan: 1
data: {file: $DATA/people.csv, missing_as: drop}
variables:
  - {name: region, codelist: $DATA/lists/region.csv}
  - {name: sex, codelist: $DATA/lists/sex.csv}
tables:
  - {name: one, by: [region]}
  - {name: two, by: [sex]}
mechanism: MECHANISM
negatives: keep
parameter_choice: advance
outputs: {folder: FOLDER, formats: [csv]}
END
run() {
    sed "s/MECHANISM/$1/; s/FOLDER/$2/" plan.yaml >this.yaml
    [ $# -gt 2 ] && echo "accept: [$3]" >>this.yaml
    cellar plan run this.yaml >/dev/null 2>said
    echo "$1: exit $?"
    grep accept said
}
run identity a
run identity b no-protection
grep -l -e '"no-protection"' -e 'No protection, accepted' b/*
run discrete-laplace:epsilon=6 c
run discrete-laplace:epsilon=6 d large-epsilon
grep -l -e '"large-epsilon"' -e 'Large epsilon, accepted' d/*
run discrete-laplace:epsilon=6 e everything
cellar key create agency.key >/dev/null
sed -i 's/formats: \[csv\]/formats: [csv], sign: agency.key/' plan.yaml
run discrete-laplace:epsilon=1 f
run discrete-laplace:epsilon=1 g unaccounted
grep accepts g/manifest.sig
