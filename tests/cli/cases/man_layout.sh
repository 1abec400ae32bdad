# SPDX-License-Identifier: GPL-3.0-or-later
# groff has nothing to say about the pages.
command -v groff >/dev/null || { echo "groff is not installed"; exit 77; }
for page in "$SOURCE"/man/*.1; do
    groff -ww -mdoc -Tutf8 "$page" 2>&1 >/dev/null
done
