# SPDX-License-Identifier: GPL-3.0-or-later
# Plans that name a table of a database equal those of the file, but for noise, which is nothing here:
# epsilon is so large. Cubes of both differ by noise only: twenty standard deviations at most.
cellar demo-data --people 2000 2>/dev/null
python3 - <<'PYTHON'
import csv, sqlite3
rows = list(csv.reader(open("people.csv", encoding="utf-8")))
for name, part in ("one.db", rows[1:]), ("a.db", rows[1:900]), ("b.db", rows[900:]):
    people = sqlite3.connect(name)
    people.execute("CREATE TABLE people (%s)" % ", ".join(f"[{column}] TEXT" for column in rows[0]))
    people.executemany("INSERT INTO people VALUES (%s)" % ", ".join("?" * len(rows[0])), part)
    people.commit()
PYTHON
for plan in small_country small_country_cube; do
    sed -e 's|\.\./||' -e '/^ledger:/,$d' -e 's|epsilon: 1$|epsilon: 2000|' -e 's|rho: 0.1 |rho: 10 |' plans/$plan.yaml >$plan.yaml
    echo 'accept: [large-epsilon, unaccounted, no-protection]' >>$plan.yaml
    sed -e 's|^  file: people.csv|  table: people\n  order_by: [id]|' -e 's|diagnoses-2026|from-2026|' \
        -e 's|country.cube|from.cube|' $plan.yaml >${plan}_from.yaml
done
cellar plan check small_country.yaml --json | grep -v '"folder"' >file.json
cellar plan check small_country_from.yaml --json --from sqlite:a.db --from sqlite:b.db | grep -v '"folder"' >from.json
cmp file.json from.json && echo "the same plan"
cellar plan run small_country.yaml --date 2026-01-01
cellar plan run small_country_from.yaml --date 2026-01-01 --from sqlite:one.db
for file in diagnoses-2026/*.csv; do cmp "$file" "from-2026/${file##*/}" && echo "the same table"; done
cellar cube build small_country_cube.yaml --date 2026-01-01
cellar cube build small_country_cube_from.yaml --date 2026-01-01 --from sqlite:a.db --from sqlite:b.db
for cube in country from; do
    cellar cube table $cube.cube --by region,diagnosis --margins -o $cube.csv
done 2>/dev/null
python3 - <<'PYTHON'
import csv
ours, theirs = (list(csv.DictReader(open(name, encoding="utf-8"))) for name in ("country.csv", "from.csv"))
value, error = list(ours[0])[2:4]
far = [a for a, b in zip(ours, theirs) if abs(float(a[value]) - float(b[value])) > 20 * float(a[error])]
print("the same cube" if len(ours) == len(theirs) > 20 and not far else far)
PYTHON
cellar plan check small_country_from.yaml
cellar plan check small_country.yaml --from sqlite:one.db
cellar cube table country.cube --from sqlite:one.db
