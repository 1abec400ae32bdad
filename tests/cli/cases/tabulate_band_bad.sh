# SPDX-License-Identifier: GPL-3.0-or-later
# A band of something that is no number, and a width that is none.
cellar tabulate "$DATA/people.csv" --by sex --band sex=5
echo "exit $?"
cellar tabulate "$DATA/people.csv" --by age --band age=-5
echo "exit $?"
