# SPDX-License-Identifier: GPL-3.0-or-later
# The list of verbs, asked for in every way; without a verb it is a usage error.
cellar help
cellar help | cmp - /dev/stdin <<END
$(cellar --help)
END
cellar -h >/dev/null && cellar 2>/dev/null
echo "without a verb: $?"
