# SPDX-License-Identifier: GPL-3.0-or-later
# A reader that goes away ends the program without a word.
cellar help tabulate | head -n 1
