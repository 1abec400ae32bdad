#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The participant in JavaScript, in node and in chromium:  tests/participant.sh ROOT BUILD
# Its packages are those of participant/package-lock.json. Skipped where there is no npm or no chromium.
set -eu
root=$1 build=$2
command -v npm >/dev/null || { echo "skipped: there is no npm"; exit 77; }
[ -x /usr/bin/chromium ] || { echo "skipped: there is no /usr/bin/chromium"; exit 77; }
cd "$root/participant"
stamp=node_modules/.installed
if [ ! -e $stamp ] || [ package-lock.json -nt $stamp ]; then
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
    touch $stamp
fi
CELLAR_BUILD=$build npm test --silent
