# SPDX-License-Identifier: GPL-3.0-or-later
# Weights and record keys that are no numbers: file, line and column, not the value.
for option in '--weight sex' '--record-key status' '--record-key sex --key-range 8'; do
    cellar tabulate "$DATA/people.csv" --by region $option
    echo "exit $?"
done
