# SPDX-License-Identifier: GPL-3.0-or-later
# Cell keys have no guarantee: the number, and the attack.
cellar ptable design --variance 1 --m 2 -o table.csv >design
cellar certify cell-key:file=table.csv --epsilon 1 --explain
cellar certify cell-key:file=table.csv --epsilon 1 --json | python3 -c '
import json, sys
got = json.load(sys.stdin)
print(got["verdict"], "%.6f" % got["difference"], got["profile"][0]["delta"])
'
