#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The examples of the manual work:  manual.sh BUILD_FOLDER
#
# Each page's examples run in order in a folder that has the files they name.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$build:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# What the examples take for granted: what demo-data writes, and tables and releases made from it.
mkdir "$folder/files"
cd "$folder/files"
cellar demo-data --people 1000 2>/dev/null
age='--bottom age=15 --top age=75 --band age=15 --band-closed right'
awk 'BEGIN { print "clinic,patient"; for (i = 0; i < 60; i++) print "c" i % 3 "," i % 17 }' >visits.csv
{
    # shellcheck disable=SC2086 # options
    cellar tabulate people.csv --by region,sex,age,diagnosis --domain codelists $age -o table.json
    cellar tabulate people.csv --by region,sex --domain codelists --margins all -o margins.json
    cellar protect table.json --mechanism discrete-laplace:epsilon=1 --negatives keep -o release.json
    cellar protect table.json --mechanism discrete-laplace:epsilon=1 --negatives keep -o release.csv
    mkdir pack
    cellar ledger create pack.ledger --dataset pack --edition 2026 --unit person \
        --neighbours add-remove --epsilon 1
    cellar protect table.json --mechanism discrete-laplace:epsilon=1 --negatives keep \
        --unit person --ledger pack.ledger --dataset pack --request 1 -o pack/release.csv
} 2>setup || { cat setup; exit 1; }

# prepare VERB: what the examples of one verb need besides.
prepare() {
    case $1 in
    audit)
        for two in region,sex region,diagnosis sex,diagnosis; do
            cellar tabulate people.csv --by $two --domain codelists -o "$(echo $two | tr , -)".json
        done
        ;;
    infer)
        cellar tabulate people.csv --by region,sex --domain codelists -o region_sex.json
        cellar tabulate people.csv --by sex --domain codelists -o sex.json
        for pair in region_sex.json=cells.json sex.json=margins.csv; do
            cellar protect "${pair%=*}" --mechanism discrete-laplace:epsilon=1 --negatives keep -o "${pair#*=}"
        done
        ;;
    collect)
        for role in shuffler analyst my; do cellar key create $role.key; done
        cellar collect shuffler identity --key shuffler.key -o shuffler.pub
        cellar collect analyst identity --key analyst.key -o analyst.pub
        cut -d, -f 2,3 people.csv >me.csv
        mkdir survey
        ;;
    esac
    case $1 in
    audit | fit)
        cellar tabulate people.csv --by region,sex --domain codelists -o region_sex.json
        cellar tabulate people.csv --by region --domain codelists -o region.json
        noise='--mechanism discrete-laplace:epsilon=1 --negatives keep --per-cell'
        # shellcheck disable=SC2086 # options
        for pair in region_sex.json=cells.csv region.json=margins.csv margins.json=census.json; do
            cellar protect "${pair%=*}" $noise -o "${pair#*=}"
        done
        ;;
    merge)
        for part in 1 2 3; do
            awk -v part=$part 'NR == 1 || NR % 3 + 1 == part' people.csv >part$part.csv
            cellar tabulate part$part.csv --by region,sex --domain codelists -o part$part.json
        done
        ;;
    synthesize)
        cellar protect table.json --mechanism poisson:alpha=1 --negatives keep -o people.release.csv
        ;;
    esac
    case $1 in
    cube | infer | report | synthesize)
        sed -e 's|\.\./||' -e '/^ledger:/,$d' plans/small_country_cube.yaml >universe.yaml
        ;;
    esac
    case $1 in
    infer | report | synthesize) cellar cube build universe.yaml ;;
    esac
    case $1 in
    ledger) rm -f table1.csv ;;
    plan)
        sed 's|\.\./||' plans/small_country.yaml >plan.yaml
        cellar ledger create census.ledger --dataset census --edition 2026 --unit person \
            --neighbours add-remove --epsilon 2
        ;;
    exposure) awk 'NR == 1 { print $0 ",w" } NR > 1 { print $0 "," 1 + NR % 7 }' people.csv >sample.csv ;;
    utility) sed '1s/released/puwc/' release.csv >perturbed.csv ;;
    report)
        cp release.csv regions.csv
        cp release.csv.cellar.json regions.csv.cellar.json
        cp release.json ages.json
        rm table.json
        for table in table.csv table.json; do
            # shellcheck disable=SC2086 # options
            cellar tabulate people.csv --by region,age,diagnosis $age -o $table --domain codelists
        done
        ;;
    tabulate | store)
        rm table.json
        python3 -c 'import csv, sqlite3
rows = list(csv.reader(open("people.csv", encoding="utf-8")))
people = sqlite3.connect("people.db")
people.execute("CREATE TABLE people (%s)" % ", ".join(f"[{name}] TEXT" for name in rows[0]))
people.executemany("INSERT INTO people VALUES (%s)" % ", ".join("?" * len(rows[0])), rows[1:])
people.commit()'
        ;;
    verify-release)
        cellar key create agency.key
        cellar key public agency.key -o agency.pub
        cellar sign pack --key agency.key
        ;;
    esac >/dev/null 2>&1
}

# between VERB LINE: what happens between two examples.
between() {
    case "$1 $2" in
    "collect cellar collect participant send"*)
        cellar collect curator invite --spool survey --key curator.key --shuffler shuffler.pub \
            --analyst analyst.pub --title test --people 1000 --k 3 --exposure 1 \
            --domain region=codelists/region.csv --domain sex=codelists/sex.csv
        ;;
    "ledger cellar ledger verify"*)
        cellar protect table.json --mechanism discrete-laplace:epsilon=1 --negatives keep \
            --unit person --ledger census.ledger --ledger-key census.key --dataset census \
            --request 1 -o table1.csv
        ;;
    "key cellar key public"*) cellar key create agency.key ;;
    "utility "* | "report "*) rm -f chart.csv page.html ;;
    esac >/dev/null 2>&1
}

# example LINE: runs one example. A server runs until it is stopped; that it starts and stays is enough, at any port
# that is free.
example() {
    case $1 in
    "cellar collect door run"*) timeout --foreground 3 sh -c "exec $1 --listen 127.0.0.1:0" || [ $? = 124 ] ;;
    *) sh -c "$1" ;;
    esac
}

failed=0
for page in "$source"/man/*.1; do
    verb=$(basename "$page" .1 | sed 's/^cellar-//')
    case $verb in serve) continue ;; esac
    cp -r "$folder/files" "$folder/$verb"
    cd "$folder/$verb"
    prepare "$verb"
    sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$page" | sed -e ':a' -e '/\\$/{N;s/\\\n/ /;ba' -e '}' |
        sed -n 's/^\.Dl //p' >examples
    [ -s examples ] || { echo "$verb: no examples"; failed=1; }
    while IFS= read -r line <&3; do
        between "$verb" "$line"
        if ! example "$line" >answer 2>&1; then
            printf '%s\n' "$line"
            cat answer
            failed=1
        fi
    done 3<examples
done
exit $failed
