# SPDX-License-Identifier: GPL-3.0-or-later
# The members other programs rely on; the numbers of the errata.
cellar certify truncated-laplace:epsilon=0.5,m=10 --epsilon 0.5 --negatives zero --json >got.json
python3 -c '
import json
got = json.load(open("got.json"))
for key in ("verdict", "neighbours", "unit", "cells_per_unit", "invariants", "domain", "negatives",
            "parameter_choice", "pure_epsilon", "epsilon_at"):
    print(key, got[key])
for p in got["profile"]:
    print(*("%s=%.6g" % (k, p[k]) for k in ("epsilon", "delta", "delta_probabilistic",
                                             "delta_published")), p["worst_case"])
'
cellar certify discrete-laplace:epsilon=0.3 --cells 10 --delta 1e-6 --json >got.json
python3 -c '
import json
got = json.load(open("got.json"))
print(got["pure_epsilon"], got["pure_epsilon_exact"], sorted(got["composition"]["tight"]))
tight = got["composition"]["tight"]
assert 0 <= tight["epsilon"] - tight["lower"] <= 1e-3
assert tight["epsilon"] < got["composition"]["basic"]["epsilon"]
print(["%.5f" % at["epsilon"] for at in got["epsilon_at"]])
'
echo "# the cells that one record lies in, of all mechanisms together"
for more in '' '--cells 3' '--neighbours substitute' '--parallel'; do
    cellar certify discrete-laplace:epsilon=0.3 laplace:epsilon=0.2 $more --delta 1e-6 --json |
        python3 -c 'import json, sys; got = json.load(sys.stdin); print(got["cells_per_unit"], got["composition"]["parts"])'
done
