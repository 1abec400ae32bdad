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
