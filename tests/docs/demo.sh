#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The demonstration, with fewer people, ends well and leaves what it says:  demo.sh BUILD_FOLDER
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(dirname "$0")/../../tools/demo" "$1" "$folder/out" 20000 >"$folder/story"
cd "$folder/out"
for file in people.csv true.json census.ledger epilepsy.csv epilepsy.csv.cellar.json fitted.csv \
    committee.html diagnoses-2026/diagnoses-by-region.csv diagnoses-2026/certificate.json \
    diagnoses-2026/index.html diagnoses-2026/manifest.sig; do
    [ -s $file ] || { echo "no $file"; exit 1; }
done
for page in diagnoses-2026/index.html committee.html; do
    grep -q "^    $PWD/$page\$" "$folder/story" || { echo "$page is not told"; exit 1; }
done
# the committee's page is about what is released, and epsilon was not chosen on the true data
for mechanism in discrete-laplace:epsilon=0.25 discrete-laplace:epsilon=0.5; do
    grep -q "<td>$mechanism</td>" committee.html || { echo "committee.html: no $mechanism"; exit 1; }
done
if grep -q 'chosen advance' "$folder/story"; then echo "epsilon was tried, not chosen in advance"; exit 1; fi
if grep -E 'cellar (risk|utility) .*--epsilon' "$folder/story" | grep -qE 'true.json|people.csv'; then
    echo "epsilon is tried on the true data"
    exit 1
fi
[ ! -e again.csv ] || { echo "again.csv was drawn"; exit 1; }
grep -q 'nothing was drawn' "$folder/story"
wide=$(awk 'length($0) > 104' "$folder/story")
[ -z "$wide" ] || { echo "too wide for a terminal:"; echo "$wide"; exit 1; }
