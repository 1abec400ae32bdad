#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: parallel.sh PARTS CODELISTS TRUE.json   (GNU parallel)
set -eu
partial=$(mktemp -d)
trap 'rm -rf "$partial"' EXIT
parallel --halt now,fail=1 cellar tabulate '{}' --by region,sex --domain "$2" -o "$partial/{/.}.json" ::: "$1"/part-*.csv
cellar merge "$partial"/*.json -o "$3"
