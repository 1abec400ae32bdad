# SPDX-License-Identifier: GPL-3.0-or-later
# Every format carries the certificate, inside or beside; a table of true counts is not a release.
cellar tabulate "$DATA/people.csv" --by sex --missing-as drop --domain "$DATA/lists" -o table.px 2>/dev/null
for format in csv json px sdmx csvw; do
    cellar protect table.px --mechanism identity --accept no-protection --negatives zero --format $format -o out.$format 2>/dev/null
    grep -ls '"verdict"' out.$format*
    grep -ls 'verdict' out.px
done | sort -u
ls
cellar protect table.px --mechanism identity --accept no-protection --negatives zero --format json --sparse 2>/dev/null | grep -c verdict
cellar protect out.json --mechanism identity --negatives zero --accept no-protection -o again.json
