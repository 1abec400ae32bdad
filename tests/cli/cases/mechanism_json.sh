# SPDX-License-Identifier: GPL-3.0-or-later
# The members other programs rely on.
cellar mechanism truncated-laplace:epsilon=1.5,m=2 --counts 0,1 --released 0..1 --json >got.json
python3 -c '
import json
got = json.load(open("got.json"))
print(got["mechanism"], got["spec"], got["revision"], got["parameters"], got["negatives"])
for row in got["rows"]:
    print(row["count"], *("%.10g" % row[key] for key in ("presence", "mean", "variance", "entropy")),
          *(" %d %.10g" % (p["released"], p["probability"]) for p in row["pmf"]))
'
