# SPDX-License-Identifier: GPL-3.0-or-later
# A release that suppresses goes through every format and back, with its certificate; a table of true
# counts stays the owner's; what cannot be converted is refused with the reason.
cellar tabulate "$DATA/people.csv" --by region,sex --missing-as drop --domain "$DATA/lists" -o true.json \
    --title 'People' --source 'Office' --units persons --updated 2026-11-18 --role region=geo 2>/dev/null
cellar protect true.json --mechanism identity --accept no-protection --negatives zero --threshold 2 --below suppress \
    -o release.json 2>/dev/null
cellar convert release.json -o start.json --source Office --matrix POP01 --note 'A remark.' --updated 2026-11-18 \
    --role region=geo --structure-id 'AGENCY:POP(1.0)'
for format in csv json px sdmx csvw; do
    cellar convert start.json -o one.$format --format $format &&
        cellar convert one.$format --from $format -o back-$format.json 2>/dev/null &&
        cmp back-$format.json start.json && echo "$format: the same"
done 2>&1
grep -a -e '^MATRIX' -e '^SOURCE' -e '^CREATION-DATE' -e '^NOTE' one.px | cut -c 1-60
grep -c AGENCY one.sdmx
grep -c ',Q,F' one.sdmx
# true counts
cellar convert true.json -o true.csv && cellar convert true.csv -o again.json && cmp again.json true.json
stat -c '%a %n' true.csv true.csv.cellar.json release.json one.csv again.json
# refused
cellar convert true.csv -o true.csv --force
cellar convert true.json
cellar convert true.json -o - --format csv
cellar convert true.json -o other.px --updated tomorrow
cellar convert true.json -o other.px --role region=place
cellar convert true.json -o other.px --role place=geo
rm one.csv.cellar.json one.sdmx.cellar.json
cellar convert one.csv -o other.px
cellar convert one.sdmx --from sdmx -o other.px
ls other* 2>/dev/null
echo done
