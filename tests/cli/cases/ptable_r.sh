# SPDX-License-Identifier: GPL-3.0-or-later
# Exports of the R package ptable 1.0.0, padded, for tau-Argus and for SAS and modified; its
# defaults and its lists of parameters; and messages that name the option.
data=$DATA
for layout in tauargus sas modified; do
    cp "$data/r_ptable_$layout.txt" .
    cellar ptable show "r_ptable_$layout.txt"
    echo
done
cellar ptable show r_ptable_modified.txt -o again.csv >/dev/null
cellar ptable show again.csv | sed -n 1p
printf 'i;j;p;v;p_int_ub;type\n 0;0.0;1.0;0.0;1.0;all\n' >magnitudes.txt
refused() {
    cellar ptable "$@" 2>&1
    echo "exit $?"
}
refused show magnitudes.txt
cellar ptable design --D 5 --V 3 --js 2 | sed -n 1p
cellar ptable design --D 5 --V 3 --js 2 --optim 4 --mono-rows no | sed -n 1p
cellar ptable design --D 2 --V 1.05 --js 1 --mono-rows TRUE,T,FALSE,yes | sed -n 1p
cellar ptable design --D 4 --V 1 --pstay 0.5,0.5,0.7,0.8
refused design --D 4 --V 1 --pstay 0.5,0.7
refused design --D 4 --V 1 --pstay 2
refused design --D 4 --V 1 --stay 0.1 --pstay 0.1
refused design --D 4 --V 1 --pstay 0.5,,0.7
refused design --D 4 --V 1,5
refused design --D 4 --V 1 --mono-rows sometimes
refused design --D 4 --V 1 --mono --mono-rows yes
