# SPDX-License-Identifier: GPL-3.0-or-later
# A misspelt word suggests the nearest one; a strange one is only refused.
try() { echo "$ cellar $*"; cellar "$@" 2>&1; echo "exit $?"; }
try tabualte
try xyzzy
try tabulate --bandclosed right
try tabulate --xyzzy
try tabulate -x
try tabulate -output
try tabulate data --by a --missing-as dorp
try tabulate data --by a --format pxx
try tabulate data --by age,sex --band agee=5
try tabulate data --by age,sex --margins age*sexx
try describe --jason
