# SPDX-License-Identifier: GPL-3.0-or-later
# Every verb has a page of its own and a line in the first one.
cellar help | sed -n 's/^  \([a-z-]*\) .*/\1/p' | grep -v -e help -e --version | while read -r verb; do
    [ -e "$SOURCE/man/cellar-$verb.1" ] && grep -q "Xr cellar-$verb 1" "$SOURCE/man/cellar.1" &&
        echo "$verb"
done
