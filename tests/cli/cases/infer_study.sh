# SPDX-License-Identifier: GPL-3.0-or-later
# A small study: the same numbers for the same seed, however many threads.
study() {
    cellar infer study --mechanism truncated-laplace:epsilon=0.1,m=10 --n-rows 5 --n-columns 4 --tables 200 --seed 3 "$@"
}
study --threads 1 --json >one
study --threads 2 --json >two
cmp one two && echo "the same"
python3 -c '
import json
rows = json.load(open("one"))["results"]
print([r["measure"] for r in rows], [r["rejected"] > 0.3 for r in rows])
'
study --reference bootstrap --replicates 19 --json | python3 -c '
import json, sys
got = json.load(sys.stdin)
print(got["reference"], got["not_converged"], 0 < got["results"][2]["p_value"] < 1)
'
cellar infer study 2>&1
cellar infer study --table-3 --mechanism laplace:epsilon=1 2>&1
cellar infer study --mechanism laplace 2>&1
cellar infer study --table-3 --tables 20 | grep -c truncated-laplace
