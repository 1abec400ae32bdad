# SPDX-License-Identifier: GPL-3.0-or-later
# Perturbed counts of another program, with margins; without a certificate there are no expectations.
printf 'sex,job,count\nf,yes,12\nf,no,3\nm,yes,9\nm,no,1\n' >table.csv
printf 'job;sex;uwc;puwc\nyes;f;12;13\nno;f;3;3\nyes;m;9;8\nno;m;1;0\nTotal;f;15;14\nTotal;m;10;11\nTotal;Total;25;25\n' >other.csv
cellar utility table.csv other.csv --column puwc --ways 0 --counts 1 --within 0
cellar utility table.csv other.csv --column puwc --csv distances -o distances.csv && stat -c %a distances.csv
cut -d, -f1-6,16 distances.csv
cellar utility table.csv other.csv --column puwc --json | grep -c '"d[123]"'
refused() {
    cellar utility "$@" 2>&1
    echo "exit $?"
}
refused table.csv other.csv
refused table.csv --column puwc --mechanism identity
refused table.csv missing.csv
cellar utility table.csv --mechanism identity --csv distances
