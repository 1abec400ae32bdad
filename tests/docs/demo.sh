#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The demonstration, with fewer people, ends well and leaves what it says:  demo.sh BUILD_FOLDER
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(dirname "$0")/../../tools/demo" "$1" "$folder/out" 20000 >"$folder/story"
cd "$folder/out"
for file in people.csv true.json cube.ledger country.cube committee.html country-2026/country.cube \
    country-2026/index.html country-2026/manifest.sig; do
    [ -s $file ] || { echo "no $file"; exit 1; }
done
for page in country-2026/index.html committee.html; do
    grep -q "^    $PWD/$page\$" "$folder/story" || { echo "$page is not told"; exit 1; }
done
# the totals of the three tables are one
sed -n '/TOTALS ADD/,/BUDGET HOLDS/p' "$folder/story" | awk '/^    (_T|_T +_T) / { print $(NF - 1) }' >"$folder/totals"
[ "$(wc -l <"$folder/totals")" = 3 ] && [ "$(sort -u "$folder/totals" | wc -l)" = 1 ] ||
    { echo "totals differ"; exit 1; }
# the table over HTTP is that of the cube
sed -n '/TABLE BUILDER/,/That is all/p' "$folder/story" | grep -q '^    .*Asthma.*,[0-9-]' || { echo "no table over HTTP"; exit 1; }
# epsilon was not chosen on the true data
if grep -q 'chosen advance' "$folder/story"; then echo "epsilon was tried, not chosen in advance"; exit 1; fi
if grep -E 'cellar (risk|utility) .*--epsilon' "$folder/story" | grep -qE 'true.json|people.csv'; then
    echo "epsilon is tried on the true data"
    exit 1
fi
[ ! -e again.csv ] || { echo "again.csv was drawn"; exit 1; }
grep -q 'nothing was drawn' "$folder/story"
wide=$(awk 'length($0) > 104' "$folder/story")
[ -z "$wide" ] || { echo "too wide for a terminal:"; echo "$wide"; exit 1; }
