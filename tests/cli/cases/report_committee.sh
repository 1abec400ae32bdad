# SPDX-License-Identifier: GPL-3.0-or-later
# The page for the committee: confidential, whole, the same with any number of threads.
printf 'area,age,ill,count\n"<script>alert(1)</script>",young,yes,7\n"<script>alert(1)</script>",young,no,2\n' >table.csv
printf '"b&b",young,no,5\n"b&b",old,yes,1\n"</svg>",old,no,30\n' >>table.csv
plan='--qid area,age --sensitive ill --mechanism discrete-laplace:epsilon=1 --mechanism laplace:epsilon=1
    --mechanism poisson:alpha=0.5 --copies 5'
check() { python3 "$DATA/../check_page.py" "$@"; }

cellar report table.csv $plan --charts charts -o page.html
check page.html --words
stat -c '%a %n' page.html charts/risk-local.svg charts/risk-local.png
ls charts | sed 's/\..*//' | uniq -c
grep -c 'alert(1)' page.html
grep -o '<h2 id="[a-z-]*">[^<]*' page.html
grep -o '<th scope="row">b&amp;b</th><th scope="row">old</th>.*' page.html

echo "# the numbers are those of the verbs"
number() { python3 -c 'import json, sys; print("%.4f" % json.load(sys.stdin)["results"][0]["value"])'; }
risk=$(cellar risk table table.csv --qid area,age --sensitive ill --mechanism discrete-laplace:epsilon=1 \
    --measure local --json | number)
grep -o "<th scope=\"row\">discrete-laplace:epsilon=1</th><td class=\"n\">$risk<" page.html
share=$(cellar exposure table table.csv --columns area,age --k 2 --json | number)
grep -o '<tr><th scope="row" class="n">2</th><td class="n">1</td><td class="n">0.0222<' page.html
echo "$share"
cellar report table.csv $plan --threads 1 -o one.html
cmp page.html one.html && echo "the same with one thread"
cellar report table.csv $plan --seed 2 -o two.html
cmp -s page.html two.html || echo "another seed, another page"

echo "# with a release, and a grid"
cellar protect table.csv --domain-public --mechanism identity --accept no-protection --negatives keep -o release.csv 2>/dev/null
cellar report table.csv --qid area,age --sensitive ill --mechanism identity --release release.csv \
    --epsilon 0.1,1 --negatives zero --groups 1 --title 'A & B' -o three.html
check three.html
grep -o '<h1>.*' three.html
cellar report --public three.html 2>&1

echo "# wrong use"
cellar report table.csv 2>&1
cellar report table.csv other.csv $plan 2>&1
cellar report table.csv --qid area --sensitive ill 2>&1
cellar report table.csv --qid area,nothing --sensitive ill --mechanism identity 2>&1
cellar report table.csv --qid area --sensitive area --mechanism identity 2>&1
cellar report table.csv --qid area --sensitive ill --mechanism laplace 2>&1
cellar report table.csv --qid area --sensitive ill --mechanism multinomial-dirichlet:alpha=1 2>&1
cellar report table.csv --qid area --sensitive ill --mechanism identity --epsilon 1 2>&1
cellar report table.csv --qid area --sensitive ill --mechanism identity --rows 3 2>&1
cellar report table.csv --qid area --sensitive ill --mechanism identity --release table.csv 2>&1
cellar report --public release.csv --qid area 2>&1
cellar report table.csv $plan -o page.html 2>&1
cellar report table.csv $plan -o table.csv --force 2>&1
printf 'area,age,ill,count\n' >empty.csv
cellar report empty.csv $plan -o empty.html 2>&1
ls
exit 0
