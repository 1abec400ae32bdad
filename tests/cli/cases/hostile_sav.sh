# SPDX-License-Identifier: GPL-3.0-or-later
# A file that makes the parser of SPSS files crash costs one sentence, not the program.
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
"$DATA/hostile_sav.py" >hostile.sav || exit 1
try() {
    echo "$ $*"
    cellar "$@" >out 2>err
    status=$?
    cat out
    sed 's/ damaged one: .*/ damaged one/' err # a newer ReadStat refuses the file itself
    echo "exit $status"
}
try describe hostile.sav
try tabulate hostile.sav --by T --missing-as level -o table.csv
ls
