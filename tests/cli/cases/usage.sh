# SPDX-License-Identifier: GPL-3.0-or-later
# What a command line can get wrong, each with one sentence and exit status 2.
try() { echo "$ cellar $*"; cellar "$@" 2>&1; echo "exit $?"; }
try tabulate
try tabulate a b --by x
try tabulate a
try tabulate a --by
try tabulate a --by --json
try tabulate a --by=x --by y
try tabulate a --by x --json=yes
try tabulate a --by x,x
try tabulate a --by x,,y
try tabulate a --by '"x,y'
try tabulate a --by x --unit id
try tabulate a --by x --max-per-unit 3
try tabulate a --by x --unit id --max-per-unit 0
try tabulate a --by x --key-range 256
try tabulate a --by x --threads -1
try tabulate a --by x --threads 2000
try tabulate a --by x --delimiter '||'
try tabulate a --by x --delimiter '"'
try tabulate a --by x --band 5
try tabulate a --by x --band x=5 --band x=10
try tabulate a --by x --band-closed both
try tabulate a --by x,y --domain list.csv
try tabulate a --by x --domain .
try tabulate a --by x --hierarchy x
try tabulate a --by x --margins '"x'
try tabulate a --by x -o table
try tabulate a --by x -o - --json
try tabulate a --by x --format csvw
try tabulate a --by x --sparse
try tabulate a --by x --format px --zeros
try tabulate a --by x --format px --neutralise-formulas
try tabulate a --by x --limit 3 -o t.csv
try describe
try describe a b
try describe a --levels x
try describe a --max-levels 0
try describe a --by '"x'
try describe a --columns '"x'
