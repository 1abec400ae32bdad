# SPDX-License-Identifier: GPL-3.0-or-later
# Bash completes verbs, parts, options and the words they take; every option of --help is there, in all shells.
command -v bash >/dev/null || { echo "no bash"; exit 77; }
cellar completion bash >cellar.bash
complete() { # WORD...: what the last word can become
    bash -c '. ./cellar.bash; COMP_WORDS=(cellar "$@"); COMP_CWORD=$#; _cellar; echo "$*:" "${COMPREPLY[@]}"' - "$@"
}
complete de
complete help ce
complete risk ''
complete risk t
complete protect --neg
complete protect true.json --negatives ''
complete protect true.json --negatives z
complete tabulate people.csv ''
complete certify --e
cellar completion zsh | sed -n "s/^    \([a-z-]*\)) _arguments.*/verb \1/p; s/^ *'\**\(--[A-Za-z0-9-]*\)\[.*/\1/p" >zsh
cellar completion fish | sed -n "s/.*from \([a-z-]*\)' -l \([A-Za-z0-9-]*\).*/\1 --\2/p" | grep -v -e ' --help' >fish
awk '$1 == "verb" { verb = $2; next } $1 != "--help" { print verb, $1 }' zsh | cmp - fish && echo "zsh and fish have the same options"
for verb in certify ptable protect; do
    for option in $(cellar help $verb | sed -n 's/^  \(-., \|    \)\(--[A-Za-z0-9-]*\).*/\2/p'); do
        grep -q "^    '$verb -') words='.*$option[ ']" cellar.bash || echo "$verb $option: not in bash"
        [ "$option" = --help ] || grep -q -e "^$verb $option\$" fish || echo "$verb $option: not in fish"
    done
done
cellar completion csh 2>&1
echo "exit $?"
