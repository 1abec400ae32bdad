# SPDX-License-Identifier: GPL-3.0-or-later
# Fish itself completes verbs, parts, options and the words they take.
command -v fish >/dev/null || { echo "no fish"; exit 77; }
cellar completion fish >cellar.fish
mkdir home
complete() { # LINE: what its last word can become, without the descriptions
    echo "$1:" $(HOME=$PWD/home fish --no-config -c "source cellar.fish; complete -C '$1'" | cut -f1 | grep -v '^home/$\|^cellar.fish$')
}
complete 'cellar de'
complete 'cellar help ce'
complete 'cellar help hel'
complete 'cellar risk '
complete 'cellar risk t'
complete 'cellar protect --neg'
complete 'cellar protect true.json --negatives '
complete 'cellar protect true.json --negatives z'
complete 'cellar certify --e'
complete 'cellar certify --he'
