#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: slurm.sh PARTS CODELISTS TRUE.json   (parts part-0.csv to part-N.csv; untested)
#
# The folder of partial tables lies on a file system that all nodes see; it goes when they are merged.
set -eu
last=$(($(find "$1" -name 'part-*.csv' | wc -l) - 1))
partial=$(mktemp -d "$PWD/partial-XXXXXX")
jobs=$(sbatch --parsable --array="0-$last" --wrap \
    "cellar tabulate '$1'/part-\$SLURM_ARRAY_TASK_ID.csv --by region,sex --domain '$2' -o '$partial'/\$SLURM_ARRAY_TASK_ID.json")
sbatch --dependency="afterok:$jobs" --wrap "cellar merge '$partial'/*.json -o '$3' && rm -r '$partial'"
