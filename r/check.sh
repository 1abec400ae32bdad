#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# R CMD check of the package:  r/check.sh ROOT BUILD   (CELLAR_CFLAGS and CELLAR_LIBS say where libcellar is)
# Fails on an error, a warning, or more than one note. The network is not asked (an empty folder stands for the
# repositories), the PDF manual, which would need LaTeX, is not made, and vignettes are built once, by R CMD build.
set -eu
root=$1 build=$2
folder=$build/r-check
rm -rf "$folder"
mkdir -p "$folder/none/src/contrib"
cp -R "$root/r" "$folder/source"
cd "$folder"
export CELLAR_PROGRAM="$build/cellar" CELLAR_ROOT="$root"
: >none/src/contrib/PACKAGES
cat >profile <<END
options(repos = c(CRAN = "file://$PWD/none", BioCsoft = "file://$PWD/none", BioCann = "file://$PWD/none",
                  BioCexp = "file://$PWD/none"))
END
export R_PROFILE="$PWD/profile" R_LIBS_USER="$PWD/none" LC_ALL=C.UTF-8
export _R_CHECK_CRAN_INCOMING_=false _R_CHECK_CRAN_INCOMING_REMOTE_=false _R_CHECK_SYSTEM_CLOCK_=false
R CMD build --log source >build.log 2>&1 || { cat build.log; exit 1; }
R CMD check --as-cran --no-manual --no-build-vignettes cellar_*.tar.gz >check.log 2>&1 || { cat check.log; cat cellar.Rcheck/tests/*.fail 2>/dev/null; exit 1; }
status=$(grep '^Status:' check.log)
echo "$status"
case $status in
"Status: OK" | "Status: 1 NOTE") ;;
*) cat check.log; exit 1 ;;
esac
