# SPDX-License-Identifier: GPL-3.0-or-later
cellar describe "$DATA/semicolon.csv" --delimiter ';'
cellar describe "$DATA/plain.tsv" --no-header --threads 1
cellar describe "$DATA/legacy.csv" --encoding latin1 --columns sex
cellar describe "$DATA/ragged.csv" --bad-rows skip
