#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: mpi.sh PARTS CODELISTS TRUE.json   (Open MPI)
#
# Each rank counts every n-th part; no message passes between them.
set -eu
partial=$(mktemp -d "$PWD/partial-XXXXXX")
trap 'rm -rf "$partial"' EXIT
# shellcheck disable=SC2016 # the ranks know the names
mpirun sh -c '
    i=0
    for part in "$1"/part-*.csv; do
        if [ $((i % OMPI_COMM_WORLD_SIZE)) -eq "$OMPI_COMM_WORLD_RANK" ]; then
            cellar tabulate "$part" --by region,sex --domain "$2" -o "$3/$i.json" || exit 1
        fi
        i=$((i + 1))
    done' rank "$1" "$2" "$partial"
cellar merge "$partial"/*.json -o "$3"
