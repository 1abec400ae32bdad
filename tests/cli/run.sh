#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs one case: run.sh PROGRAM CASE.sh
#
# The case runs in an empty folder with the program first in PATH and DATA naming tests/cli/data.
# Its standard output must equal CASE.stdout (nothing, if there is no such file), its exit status
# CASE.exit (0), and its standard error CASE.stderr (not looked at, if there is none). A case that
# cannot run here exits with 77 and says why. UPDATE=1 writes the expectations instead.
program=$1 script=$2
umask 022 # folders that others can write to are refused
case_path=${script%.sh}
folder=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$folder"; rm -rf "$folder"' EXIT
mkdir "$folder/work"
PATH=$(dirname "$program"):$PATH
DATA=$(cd "$(dirname "$script")/../data" && pwd)
SOURCE=$(cd "$(dirname "$script")/../../.." && pwd)
export PATH DATA SOURCE
(cd "$folder/work" && exec sh "$script") >"$folder/stdout" 2>"$folder/stderr" </dev/null
status=$?
if [ $status -eq 77 ]; then
    echo "skipped: $(cat "$folder/stdout" "$folder/stderr")"
    exit 77
fi
# Messages name the data by the path they were given; that path differs between machines.
sed "s|$DATA/||g" "$folder/stderr" >"$folder/stderr.short"

if [ -n "$UPDATE" ]; then
    rm -f "$case_path.stdout" "$case_path.exit"
    [ -s "$folder/stdout" ] && cp "$folder/stdout" "$case_path.stdout"
    [ $status -ne 0 ] && echo $status >"$case_path.exit"
    [ -s "$folder/stderr" ] && cp "$folder/stderr.short" "$case_path.stderr"
    exit 0
fi

failed=0
same() { # what, expected file, actual file
    diff -u "$2" "$3" >"$folder/diff" && return
    echo "$1 differs:"
    cat "$folder/diff"
    failed=1
}
expected=$folder/empty
: >"$expected"
[ -e "$case_path.stdout" ] && expected=$case_path.stdout
same "standard output" "$expected" "$folder/stdout"
[ -e "$case_path.stderr" ] && same "standard error" "$case_path.stderr" "$folder/stderr.short"
wanted=0
[ -e "$case_path.exit" ] && wanted=$(cat "$case_path.exit")
if [ "$status" -ne "$wanted" ]; then
    echo "exit status is $status, expected $wanted"
    cat "$folder/stderr"
    failed=1
fi
exit $failed
