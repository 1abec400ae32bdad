# SPDX-License-Identifier: GPL-3.0-or-later
# Folders in which others can exchange files are refused for outputs; the sticky bit will do there,
# but not for a ledger, whose journal everybody could write.
mkdir shared
chmod 0777 shared
cellar tabulate "$DATA/people.csv" --by region -o shared/t.csv
echo "shared: $?, $(ls shared | wc -l) files"
chmod 1777 shared
cellar tabulate "$DATA/people.csv" --by region -o shared/t.csv 2>/dev/null
echo "sticky: $?, mode $(stat -c %a shared/t.csv)"
cellar ledger create shared/ledger --ledger-key own.key
echo "ledger: $?, $(ls shared | wc -l) files, $(ls own.key 2>/dev/null)"
