# SPDX-License-Identifier: GPL-3.0-or-later
# Missing values: no default, dropped with the number told, or a level.
file=$DATA/people.csv
cellar tabulate "$file" --by status --missing '?'
echo "exit $?"
cellar tabulate "$file" --by status --missing '?' --missing-as drop --domain-public
cellar tabulate "$file" --by status --missing '?' --missing single --missing-as level --domain-public
