# SPDX-License-Identifier: GPL-3.0-or-later
# Words that are no verb: exit status 2; a misspelt one suggests the nearest.
cellar hlep
echo "exit $?"
cellar xyzzy
echo "exit $?"
cellar >/dev/null 2>&1
echo "without a verb: $?"
cellar --version >/dev/full
