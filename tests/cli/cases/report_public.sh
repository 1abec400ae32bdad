# SPDX-License-Identifier: GPL-3.0-or-later
# The page for the public: from releases alone, whatever their labels say.
printf 'code,label\nf,"<script>alert(1)</script>"\nm,"a"" onload=""b"\n' >sex.csv
printf "code,label\nyes,'&amp;\nno,</td></table>\n" >job.csv
printf 'sex,job,count\nf,yes,12\nf,no,3\nm,yes,9\nm,no,1\n' >table.csv
cellar protect table.csv --domain sex=sex.csv --domain job=job.csv --mechanism identity --accept no-protection \
    --negatives keep --date 2026-07-01 -o release.csv 2>/dev/null
cellar protect table.csv --domain sex=sex.csv --domain job=job.csv \
    --mechanism discrete-laplace:epsilon=1 --negatives keep --date 2026-07-01 -o noisy.csv 2>/dev/null
check() { python3 "$DATA/../check_page.py" "$@"; }

echo "# a table of true counts is no release"
cellar report --public table.csv -o page.html 2>&1
echo "exit $?"
rm table.csv
ls

echo "# one release, and two of them with charts as files"
cellar report --public release.csv -o page.html
check page.html --words
stat -c '%a %n' page.html
cellar report --public noisy.csv release.csv --title 'Two & more' --rows 1 --charts charts -o two.html
check two.html --words
ls charts
grep -c 'alert(1)' page.html
grep -o '<title>.*</title>' two.html
sed -n '/The values<.h2>/,/<.table>/p' page.html

echo "# what to type can be typed"
python3 - two.html <<'END' | grep noisy >commands
import re, sys, html
for block in re.findall("<pre><code>(.*?)</code></pre>", open(sys.argv[1]).read(), re.S):
    print(html.unescape(block))
END
sed 's/ --reference bootstrap//' commands # which depends on the noise
sh -e commands >/dev/null && echo "both run"

echo "# what is there stays"
cellar report --public release.csv -o page.html 2>&1
cellar report --public release.csv -o release.csv --force 2>&1
cellar report --public release.csv -o page.html --force && echo replaced

echo "# wrong use"
cellar report 2>&1
cellar report --public 2>&1
cellar report --public nowhere.csv 2>&1
cellar report --public release.csv --rows many 2>&1
cellar report --publik release.csv 2>&1
exit 0
