# SPDX-License-Identifier: GPL-3.0-or-later
# Zsh itself completes verbs, parts, options and the words they take: the line after the Tab key, typed on a terminal
# of its own.
command -v zsh >/dev/null || { echo "no zsh"; exit 77; }
mkdir home functions
cellar completion zsh >functions/_cellar
cat >type.zsh <<'END'
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($PWD/functions \$fpath); autoload -Uz compinit; compinit -u -D
keep() { print -r -- \"\$BUFFER\" >>lines; BUFFER=; }; zle -N keep; bindkey '^T' keep; print rea''dy"
zpty -r shell seen $'*ready*'
for line in "$@"; do
    zpty -w -n shell "$line"$'\t\x14' # the Tab key, and the key that keeps the line
done
zpty -w shell "print fin''ished"
zpty -r shell seen $'*finished*'
zpty -d shell
END
HOME=$PWD/home TERM=dumb timeout 60 zsh -f type.zsh 'cellar desc' 'cellar help cert' 'cellar risk ta' 'cellar ledger ver' \
    'cellar protect --neg' 'cellar protect true.json --negatives z' 'cellar certify --eps' 'cellar tabulate --he' 'cellar describe typ'
cat lines
