# SPDX-License-Identifier: GPL-3.0-or-later
for file in quoting ragged; do
    cellar tabulate "$DATA/$file.csv" --by region --domain-public
    echo "exit $?"
    cellar tabulate "$DATA/$file.csv" --by region --domain-public --bad-rows skip
done
