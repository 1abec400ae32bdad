#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The web site can be made, no link on it leads nowhere, and the reference has every public function.
set -eu
for program in pandoc mandoc; do
    command -v $program >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/tools/docs" "$folder/site"
for page in index docs/tutorial docs/mechanisms/index man/cellar-protect.1 include/cellar/index \
    include/cellar/table.h; do
    grep -q 'aria-label="Pages"' "$folder/site/$page.html" || { echo "no $page"; exit 1; }
done
for page in index docs/tutorial man/cellar-protect.1 search; do
    grep -q '<a class="skip" href="#content">' "$folder/site/$page.html" || { echo "$page: no skip link"; exit 1; }
    grep -q '<form role="search" action="\(../\)*search.html">' "$folder/site/$page.html" || { echo "$page: no search"; exit 1; }
done
if grep -rn '<pre' "$folder/site" --include=*.html | grep -v '<pre tabindex="0"'; then
    echo "these blocks cannot be scrolled with the keyboard"
    exit 1
fi
grep -q "<mfrac>" "$folder/site/docs/mechanisms/discrete-laplace.html" || { echo "formulas are not typeset"; exit 1; }
[ -s "$folder/site/docs/risk-by-epsilon.svg" ] || { echo "no picture"; exit 1; }
grep -q '\["docs/tutorial.html", "Tutorial: ' "$folder/site/search-index.js" || { echo "the tutorial cannot be found"; exit 1; }
if command -v node >/dev/null; then # a search finds what a reader would expect first
    cat "$folder/site/search-index.js" - "$folder/site/search.js" >"$folder/search.js" <<'END'
const place = { append(...items) { items.forEach((i) => i.shown && console.log(i.shown.join(""))); } };
globalThis.location = { search: "?q=homogen+attack" };
globalThis.document = { querySelector: () => ({}), getElementById: () => place, createElement: (name) => name === "a" ?
    { set textContent(text) { this.text = text; } } : { shown: [], append(...parts) { this.shown.push(...parts.map((p) => p.text || p)); } } };
END
    sed -i '/^"use strict"/d' "$folder/search.js"
    node "$folder/search.js" | head -n 1 | grep -q '^The homogeneity attack' || { node "$folder/search.js" | head; echo "the search fails"; exit 1; }
fi
if grep -rlE '(src|href)="(https?:)?//[^"]*\.(js|css|woff2?)"' "$folder/site" --include=*.html; then
    echo "these pages load something from elsewhere"
    exit 1
fi
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/tests/structure python3 - "$root" "$folder/site" <<'END'
import pathlib, sys
import exports
root, site = map(pathlib.Path, sys.argv[1:])
pages = "".join(page.read_text() for page in (site / "include/cellar").glob("*.h.html"))
missing = sorted(name for name in exports.declared(root) if f'<b id="{name}">' not in pages)
sys.exit("not in the reference: " + ", ".join(missing) if missing else 0)
END
