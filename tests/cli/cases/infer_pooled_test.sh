# SPDX-License-Identifier: GPL-3.0-or-later
# A test that uses inner cells and margins together, and what is refused.
cellar tabulate "$DATA/aggregated.csv" --count Freq --by district,sex --margins all --domain-public -o all.json 2>/dev/null
cellar tabulate "$DATA/aggregated.csv" --count Freq --by district,sex --domain-public -o inner.json 2>/dev/null
for t in all inner; do
    cellar protect $t.json --mechanism discrete-laplace:epsilon=1 --per-cell --negatives keep -o $t.release.json 2>/dev/null
done
cellar protect all.json --mechanism discrete-laplace:epsilon=1 --per-cell --negatives zero -o zero.release.json 2>/dev/null
test="--rows district --columns sex --pooled --replicates 19"
cellar infer independence all.release.json $test --json | grep -c -e '"pooled": "yes"' -e '"reference": "bootstrap"' -e '"mechanism": "discrete-laplace:epsilon=1"'
try() {
    cellar infer "$@" 2>&1
    echo "exit $?"
}
try independence all.release.json $test --reference chi-square
try independence all.release.json $test --association
try independence inner.release.json $test
try independence zero.release.json $test
try interval all.release.json --of sex=male --pooled
