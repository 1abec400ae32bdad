# SPDX-License-Identifier: GPL-3.0-or-later
cellar describe "$DATA/people.csv" --by status,sex --levels 1 --json
cellar describe "$DATA/people.csv" --json -o out.json && stat -c %a out.json
