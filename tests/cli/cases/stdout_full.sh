# SPDX-License-Identifier: GPL-3.0-or-later
# A full disk is noticed, whatever was being printed.
[ -c /dev/full ] || { echo "there is no /dev/full"; exit 77; }
cellar --version >/dev/full
echo "version: $?"
cellar help tabulate >/dev/full
echo "help: $?"
