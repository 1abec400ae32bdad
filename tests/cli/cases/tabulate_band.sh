# SPDX-License-Identifier: GPL-3.0-or-later
# Right-closed bands are ceil(age/5); the origin moves them; bottom and top come before the band.
file=$DATA/people.csv
cellar tabulate "$file" --by age --band age=10 2>/dev/null
cellar tabulate "$file" --by age --band age=5 --band-closed right 2>/dev/null
cellar tabulate "$file" --by age --band age=5 --band-closed age=right 2>/dev/null | wc -l
cellar tabulate "$file" --by age --band age=10 --band-origin age=5 2>/dev/null
cellar tabulate "$file" --by age --band age=10 --bottom age=19 --top age=60 2>/dev/null
