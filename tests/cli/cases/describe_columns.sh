# SPDX-License-Identifier: GPL-3.0-or-later
cellar describe "$DATA/people.csv" --columns status,sex --missing '?' --by sex --levels 0
cellar describe "$DATA/people.csv" --columns age --max-levels 3
cellar describe "$DATA/people.csv" --columns age --by sex
