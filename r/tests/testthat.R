# SPDX-License-Identifier: GPL-3.0-or-later
library(testthat)
library(cellar)
test_check("cellar")
