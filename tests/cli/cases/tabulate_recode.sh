# SPDX-License-Identifier: GPL-3.0-or-later
cellar tabulate "$DATA/people.csv" --by status --missing '?' --missing-as level \
    --recode "status=$DATA/status_map.csv" 2>/dev/null
