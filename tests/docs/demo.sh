#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The demonstration, with fewer people, ends well and leaves what it says:  demo.sh BUILD_FOLDER
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(dirname "$0")/../../tools/demo" "$1" "$folder/out" 20000 >"$folder/story"
cd "$folder/out"
for file in people.csv true.json diagnoses.csv diagnoses.csv.cellar.json epilepsy.csv \
    census.ledger pack/manifest.sig pack/page.html; do
    [ -s $file ] || { echo "no $file"; exit 1; }
done
grep -q "^    $PWD/pack/page.html" "$folder/story" || { echo "the page is not told"; exit 1; }
[ ! -e again.csv ] || { echo "again.csv was drawn"; exit 1; }
grep -q 'nothing was drawn' "$folder/story"
wide=$(awk 'length($0) > 104' "$folder/story")
[ -z "$wide" ] || { echo "too wide for a terminal:"; echo "$wide"; exit 1; }
