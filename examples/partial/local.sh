#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: local.sh PARTS CODELISTS TRUE.json   (processes of this machine)
set -eu
partial=$(mktemp -d)
trap 'rm -rf "$partial"' EXIT
export partial codelists="$2"
# shellcheck disable=SC2016 # the inner shell knows the names
printf '%s\0' "$1"/part-*.csv | xargs -0 -P "$(nproc)" -I '{}' sh -c \
    'cellar tabulate "$1" --by region,sex --domain "$codelists" -o "$partial/$(basename "$1" .csv).json"' count '{}'
cellar merge "$partial"/*.json -o "$3"
