# SPDX-License-Identifier: GPL-3.0-or-later
# Section 6.2 of the frequency table paper, exactly: critical value and level of the test of 0.5, and the power of the test
# of 0.7 with the same critical value.
for m in 5 10; do
    cellar infer binomial --released 45 --trials 80 --null 0.5 --mechanism truncated-laplace:epsilon=0.5,m=$m --json >null
    critical=$(python3 -c 'import json; print(json.load(open("null"))["designs"][0]["rejects_above"])')
    cellar infer binomial --released 45 --trials 80 --null 0.7 --alternative 0.5 --critical "$critical" \
        --mechanism truncated-laplace:epsilon=0.5,m=$m --json >other
    python3 -c '
import json
null, other = (json.load(open(f)) for f in ("null", "other"))
exact = null["designs"][0]
print("%.3f %.4f %.3f" % (exact["rejects_above"], exact["level"], other["designs"][0]["power"]))
print(sorted(null["aware"]), sorted(null["naive"]))
'
done
cellar infer binomial --released -2 --trials 20 --null 0.2 --alternative 0.5 --mechanism discrete-laplace:epsilon=1
