# SPDX-License-Identifier: GPL-3.0-or-later
# A hierarchy of tau-Argus as the domain, with its upper levels.
cellar tabulate "$DATA/people.csv" --by region --domain "$DATA/region.hrc" --hierarchy region
