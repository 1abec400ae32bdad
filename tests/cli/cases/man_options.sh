# SPDX-License-Identifier: GPL-3.0-or-later
# Each option of --help is in the man page, and the reverse.
for verb in audit certify collect convert cube describe exposure infer key ledger mechanism plan protect ptable report risk tabulate utility; do
    cellar help $verb | sed -n 's/^ .\{5\}--\([a-z-]*\).*/\1/p; s/^  -., --\([a-z-]*\).*/\1/p' |
        sort >help
    sed -n '/^\.It Fl/s/.*Fl -\([a-z-]*\).*/\1/p' "$SOURCE/man/cellar-$verb.1" | sort >man
    [ "$(wc -l <help)" -gt 2 ] && diff help man && echo "$verb: the same"
done
