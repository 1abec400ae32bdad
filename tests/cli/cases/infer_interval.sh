# SPDX-License-Identifier: GPL-3.0-or-later
# Intervals, whose widths depend on the noise's law alone, and every part of the command's language.
cellar protect "$DATA/occupation.csv" --mechanism discrete-laplace:epsilon=1 --negatives keep --domain-public \
    -o keep.json 2>/dev/null
cellar protect "$DATA/occupation.csv" --mechanism discrete-laplace:epsilon=1 --negatives zero --domain-public \
    -o zero.json 2>/dev/null
ask() {
    cellar infer interval "$@" --json | python3 -c '
import json, sys
got = json.load(sys.stdin)
rows = got["intervals"]
r = rows[0]
print(r["measure"], got["target"], got["prior"], len(rows), r.get("numbers_summed"), r["high"] >= r["low"],
      r["high"] - r["low"] if r["measure"] in ("count", "difference") and got["target"] == "table" else "")
'
}
ask keep.json --of 'age=25-29; occupation=A'
ask keep.json --of 'age=25-29'
ask keep.json --of 'age=25-29,30-34' --minus 'age=30-34,35-39'
ask keep.json --of 'age=25-29' --over 'age=30-34'
ask keep.json --of 'age=25-29' --within ''
ask keep.json --of 'age=25-29; occupation=A' --target population
ask keep.json --of 'age=25-29; occupation=A' --prior uniform
ask zero.json --of 'age=25-29; occupation=A' --over 'age=25-29; occupation=B' --prior reciprocal
ask zero.json --every-cell --simultaneous --confidence 0.9 | cut -d' ' -f1-8
# Sums whose law depends on the cells: from limits of the parts.
cellar protect "$DATA/occupation.csv" --mechanism round:base=5 --negatives keep --domain-public -o round.json 2>/dev/null
for file in zero.json round.json; do
    for how in "" "--target population" "--prior uniform" "--minus age=30-34" "--within age=25-29,30-34"; do
        cellar infer interval $file --of 'age=25-29' $how --json >answer.json
        python3 - <<'END'
import json
got = json.load(open("answer.json"))
r = got["intervals"][0]
print(r["measure"], got["target"], r["numbers_summed"], r["low"] <= r["estimate"] + 1 and r["estimate"] - 1 <= r["high"],
      any("wider than necessary" in note for note in got["notes"]))
END
    done
done
for mistake in "--of age" "--of age=1" "--of height=1" "--every-cell --of age=25-29" "--simultaneous --of age=25-29" \
    "--of age=25-29 --over age=25-29" "--of age=25-29 --minus age=30-34 --over age=30-34" \
    "--of age=25-29 --prior uniform --target population"; do
    cellar infer interval keep.json $mistake 2>&1
    echo "exit $?"
done
# Notes speak of intervals, not of tests.
for how in "--of age=25-29" "--of age=25-29 --target population"; do
    echo "$(cellar infer interval keep.json $how | grep -ci 'the test') notes of tests"
done
