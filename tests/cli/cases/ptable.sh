# SPDX-License-Identifier: GPL-3.0-or-later
# Matrices designed and told about, in both sets of words; what is refused, and why.
cellar ptable design --variance 2 --m 3 --min 1 --probabilities
echo
cellar ptable design --D 2 --V 3 --pstay 0.1
echo
cellar ptable design --variance 1 --m 2 --keys 16
refused() {
    cellar ptable "$@" 2>&1
    echo "exit $?"
}
refused
refused designs
refused design
refused design --variance 1
refused design --variance 1 --m 3 --min 2
refused design --variance 1 --V 1 --m 2
refused design --variance 1 --m 2 --form at-most --optim 1
refused design --variance x --m 2
refused design --variance 1 --m 2 --large last
refused show
refused show missing.csv
refused show missing.csv --m 2
printf 'i;j;p;v;p_int_ub\n0;0;1;0;1\n1;1;0.5;0;0.4\n' >bad.csv
refused show bad.csv
