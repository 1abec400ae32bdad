# SPDX-License-Identifier: GPL-3.0-or-later
# Intervals and tests from a cube. Widths depend on the noise's distribution alone.
printf 'code,parent,label\nN,,North\nS,,South\nn1,N,\nn2,N,\ns1,S,\ns2,S,\n' >region.csv
printf 'code\nF\nM\n' >sex.csv
cat >u.yaml <<END
plan: 1
title: A tiny cube
data: {file: p.csv}
unit: {name: person}
variables:
  - {name: region, codelist: region.csv, hierarchy: yes}
  - {name: sex, codelist: sex.csv}
universe: {file: tiny.cube, up_to: 2}
budget: {epsilon: 2, delta: 1e-6}
negatives: keep
parameter_choice: advance
END
awk 'BEGIN { print "region,sex"; split("n1 n2 s1 s2", r)
    for (i = 0; i < 4000; i++) print r[i * i % 4 + 1] "," (i % 3 ? "F" : "M") }' >p.csv
cellar cube build u.yaml 2>/dev/null
ask() {
    cellar infer interval tiny.cube "$@" --json | python3 -c '
import json, sys
got = json.load(sys.stdin)
for r in got["intervals"]:
    inside = "low" not in r or r["low"] == "undetermined" or r["low"] <= r["estimate"] <= r["high"]
    width = "" if r["measure"] not in ("count", "difference") else "%.5g" % (r["high"] - r["low"])
    print(r["measure"], inside, width, "p" if r.get("p_value") is not None else "")
'
}
ask --of ''
ask --of 'region=n1; sex=F'
ask --of 'region=N'
ask --of 'region=n1,n2'
ask --of 'region=n1; sex=F' --confidence 0.5
ask --of 'region=N; sex=F' --minus 'region=S; sex=F'
ask --of 'region=n1' --minus 'sex=M'
ask --of 'sex=F' --over 'sex=M'
ask --of 'sex=F' --within ''
ask --every-cell --columns region^1,sex
ask --every-cell --columns region^1,sex --simultaneous
cellar infer interval tiny.cube --of 'region=s2' --over 'region=n2' | grep -E '^measure|^ratio' | sed 's/  */ /g' | cut -d' ' -f1-2
cellar cube table tiny.cube --by region,sex --level region=1 --interval 0.95 --simultaneous --json |
    python3 -c 'import json, sys; print(["%.5g" % (c["high"] - c["low"]) for c in json.load(sys.stdin)["cells"]])'
cellar infer independence tiny.cube --rows region^1 --columns sex --replicates 99 --json |
    python3 -c '
import json, sys
got = json.load(sys.stdin)
print(got["source"], got["df"], got["aware"]["reference"], 0 < got["aware"]["p_value"] <= 1)'
cellar infer loglinear tiny.cube --columns region,sex --model 'region + sex' --replicates 19 --cells --json |
    python3 -c '
import json, sys
got = json.load(sys.stdin)
print(got["df"], len(got["cells"]), sorted(got["cells"][0]))'
cellar infer independence tiny.cube --rows region --columns sex --association --replicates 19 --json |
    python3 -c 'import json, sys; print([r["measure"] for r in json.load(sys.stdin)["association"]])'
for mistake in "interval --of sex=X" "interval --of sex=F --over sex=F" "interval --of sex=F --within sex=M" \
    "interval --of sex=F --target population" "loglinear --model sex" "independence --rows region^0 --columns sex" \
    "independence --rows region --columns sex --reference chi-square" "interval --every-cell --columns age"; do
    set -- $mistake
    part=$1
    shift
    cellar infer "$part" tiny.cube "$@" 2>&1
    echo "exit $?"
done
cellar cube table tiny.cube --by sex --simultaneous 2>&1
echo "exit $?"
