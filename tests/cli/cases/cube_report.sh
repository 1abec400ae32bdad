# SPDX-License-Identifier: GPL-3.0-or-later
# Pages about a cube: one for the public, from the file alone, and one for the committee.
printf 'code,parent,label\nN,,North\nS,,South\nn1,N,\nn2,N,\ns1,S,\ns2,S,\n' >region.csv
printf 'code\nF\nM\n' >sex.csv
printf 'code\na\nb\nc\n' >ill.csv
cat >u.yaml <<END
plan: 1
title: A & B
data: {file: p.csv}
unit: {name: person}
variables:
  - {name: region, codelist: region.csv, hierarchy: yes}
  - {name: sex, codelist: sex.csv}
  - {name: ill, codelist: ill.csv}
universe: {file: tiny.cube, up_to: 2}
budget: {epsilon: 2, delta: 1e-6}
negatives: keep
parameter_choice: advance
END
awk 'BEGIN { print "region,sex,ill"; split("n1 n2 s1 s2", r); split("a b c", e)
    for (i = 0; i < 4000; i++) print r[i * i % 4 + 1] "," (i % 3 ? "F" : "M") "," e[i % 7 % 3 + 1] }' >p.csv
committee="cellar report --plan u.yaml --qid region,sex --sensitive ill"
$committee -o before.html
cellar cube build u.yaml 2>/dev/null
$committee --release tiny.cube -o after.html
cellar report --public tiny.cube -o public.html
cellar report --public tiny.cube --table region^1,sex --table ill --title Two -o two.html
for page in before after public two; do
    python3 "$DATA/../check_page.py" $page.html --words
    stat -c '%a %n' $page.html
    grep -o '<h[23] id="[a-z0-9-]*">[^<]*' $page.html
done
grep -c 'rms error of the cube' before.html after.html
grep -o 'This release is differentially private with epsilon = [0-9.]*' public.html before.html
# The standard error of the table of sexes, the same on both pages.
grep -o '>sex</th><td class="n">2</td><td class="n">[0-9.]*' public.html
grep -o 'the risks are lower bounds' after.html
sed 's/up_to: 2/up_to: 1/; s/tiny.cube/small.cube/' u.yaml >small.yaml
cellar report --plan small.yaml --qid region,sex --sensitive ill | grep -o 'the attack cannot use this cube'
for mistake in "--public tiny.cube --table region,age" "--public tiny.cube tiny.cube" "--public p.csv --table sex" \
    "--plan u.yaml --qid region --sensitive ill --release p.csv" \
    "--plan small.yaml --qid region --sensitive ill --release tiny.cube"; do
    cellar report $mistake 2>&1 >/dev/null
    echo "exit $?"
done
