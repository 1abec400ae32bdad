# SPDX-License-Identifier: GPL-3.0-or-later
# An interval from one margin says that it leaves the others unused, and where they are combined.
note() {
    cellar infer interval "$1" --of district=north | grep -o 'The interval uses.*' || echo "no note"
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
