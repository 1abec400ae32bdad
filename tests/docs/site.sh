#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The web site can be made, and no link on it leads nowhere.
set -eu
for program in pandoc mandoc; do
    command -v $program >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(dirname "$0")/../../tools/docs" "$folder/site"
for page in index docs/tutorial docs/mechanisms/index man/cellar-protect.1; do
    grep -q 'aria-label="Pages"' "$folder/site/$page.html" || { echo "no $page"; exit 1; }
done
! grep -rlE '(src|href)="(https?:)?//[^"]*\.(js|css|woff2?)"' "$folder/site" --include=*.html
