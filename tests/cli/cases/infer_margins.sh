# SPDX-License-Identifier: GPL-3.0-or-later
# An interval from all values of a release says so; one from a single margin says that it leaves the others unused.
note() {
    cellar infer interval "$1" --of district=north | grep -o 'The interval \(uses\|is from all\).*' || echo "no note"
}
for margins in none all; do
    cellar tabulate "$DATA/aggregated.csv" --count Freq --by district,sex --margins $margins --domain-public \
        -o $margins.json 2>/dev/null
    for negatives in keep zero; do
        cellar protect $margins.json --mechanism discrete-laplace:epsilon=1 --per-cell --negatives $negatives \
            -o $margins.$negatives.json 2>/dev/null
        echo "margins $margins, negatives $negatives: $(note $margins.$negatives.json)"
    done
done
# The seed of the noise is secret: what holds of every draw is that pooling is no wider.
cellar infer interval all.keep.json --of district=north --json >one.json
grep -c '"pooled": "yes"' one.json
cellar infer interval all.keep.json --of district=north --minus district=south --json | grep -c '"one_margin"'
