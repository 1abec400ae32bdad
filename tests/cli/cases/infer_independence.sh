# SPDX-License-Identifier: GPL-3.0-or-later
# The paper's Table 1 without noise: the ordinary statistics; with noise: both beside each other.
cellar protect "$DATA/occupation.csv" --mechanism identity --accept no-protection --negatives keep --domain-public -o plain.json 2>/dev/null
cellar infer independence plain.json --rows age --columns occupation
cellar protect "$DATA/occupation.csv" --mechanism discrete-laplace:epsilon=0.5 --negatives zero --domain-public \
    -o noisy.csv 2>/dev/null
for reference in chi-square bootstrap; do
    cellar infer independence noisy.csv --rows age --columns occupation --reference $reference --replicates 99 --json
done | python3 -c '
import json, sys
decoder, text = json.JSONDecoder(), sys.stdin.read()
while text.strip():
    got, end = decoder.raw_decode(text.lstrip())
    text = text.lstrip()[end:]
    print(got["df"], got["mechanism"], got["negatives"], got["converged"], got["aware"]["reference"],
          got["aware"]["p_value"] <= 0.01, got["aware"]["statistic"] < got["naive"]["statistic"])
'
cellar infer loglinear noisy.csv --model 'age*occupation' --json | python3 -c '
import json, sys
got = json.load(sys.stdin)
print(got["df"], "%.6f" % abs(got["aware"]["statistic"]), got["aware"]["p_value"])
'
cellar infer independence noisy.csv --rows occupation --columns age --association --replicates 99 | grep -c '^odds_ratio'
cellar infer independence noisy.csv --rows occupation --columns age --cells | grep -c '^cell '
cellar infer loglinear noisy.csv --model 'age*occupation' | grep -e 'nothing to test' -e bootstrap
