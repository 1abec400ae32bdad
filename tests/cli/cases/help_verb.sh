# SPDX-License-Identifier: GPL-3.0-or-later
# help VERB and VERB --help say the same, on standard output.
for verb in describe tabulate; do
    cellar help $verb >a && cellar $verb --help >b && cmp a b && cellar $verb -h | cmp a - &&
        echo "$verb: $(grep -c '^ .*--' a) options and examples"
done
awk 'length > 90 { print "too wide: " $0 }' a b
cellar help nothing
