# SPDX-License-Identifier: GPL-3.0-or-later
# Shares typed on the command line: strict, in integers; what is missing or wrong is said.
cellar exposure shares --shares 0.5,0.3,0.1,0.06,0.04 --threshold 0.04,0.05,0.1,1 --json
cellar exposure shares --shares 0.5,0.3,0.1,0.06,0.04 --population 128,1000 --k 2,5 --csv results
cellar exposure shares --shares 0.5,0.5 --threshold 0.1..1/3
cellar exposure shares --shares 0.5,0.4999999 | tail -4 | head -1
cellar exposure shares --tight-example 100 --threshold 0.001 --csv results
