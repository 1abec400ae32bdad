# SPDX-License-Identifier: GPL-3.0-or-later
cellar describe "$DATA/people.csv"
