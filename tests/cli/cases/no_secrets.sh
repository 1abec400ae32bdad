# SPDX-License-Identifier: GPL-3.0-or-later
# No error repeats what a record holds: a planted value in every place something can go wrong.
value=PLANTED4711
printf 'a,b,c\n1,x,%s\n1,x,"%s"z\n' $value $value >quote.csv
printf 'a,b,c\n1,x,%s,%s\n' $value $value >wide.csv
printf 'a,b,c\n1,x,%s\n' $value >value.csv
printf 'a,b,c\n1,x,%s\0\n' $value >nul.csv
printf 'a,b,c\n1,x,%s\377\n' $value >utf8.csv
printf 'code\nx\n' >list.csv
printf 'from,to\nx,y\n' >map.csv
printf 'c = x\n' >rules.txt
{
    for file in quote wide nul utf8; do
        cellar tabulate $file.csv --by c
        cellar describe $file.csv --columns c
    done
    cellar tabulate value.csv --by c --domain c=list.csv
    cellar tabulate value.csv --by c --recode c=map.csv
    cellar tabulate value.csv --by c --band c=5
    cellar tabulate value.csv --by c --missing $value
    cellar tabulate value.csv --by c --structural-zeros rules.txt
} 2>messages >/dev/null
grep -c '^cellar: ' messages
grep $value messages
[ $? -eq 1 ] && echo "not one word of it"
