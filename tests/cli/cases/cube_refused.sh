# SPDX-License-Identifier: GPL-3.0-or-later
# What is not in a universe, not declared, not affordable or damaged is refused with the reason.
printf 'code,parent\nN,\nS,\nn1,N\nn2,N\ns1,S\n' >region.csv
printf 'code\nF\nM\n' >sex.csv
printf 'code\na\nb\nc\n' >edu.csv
printf 'region,sex,edu\nn1,F,a\ns1,M,b\n' >p.csv
universe() { # the universe, the budget, what follows
    cat <<END
plan: 1
data: {file: p.csv}
variables:
  - {name: region, codelist: region.csv, hierarchy: yes}
  - {name: sex, codelist: sex.csv}
  - {name: edu, codelist: edu.csv}
universe: {file: x.cube, $1}
budget: {$2}
negatives: ${3:-keep}
parameter_choice: advance
${4:-}
END
}
try() {
    echo "-- $*"
    cellar "$@" 2>&1
    echo "exit $?"
}
universe 'up_to: 2' 'rho: 0.5' >u.yaml
cellar cube build u.yaml 2>/dev/null
try cube build u.yaml
try plan run u.yaml
try plan check u.yaml
try cube table x.cube --by region,sex,edu
try cube table x.cube --by regoin
try cube table x.cube --by sex --only sex=X
try cube table x.cube --by sex --level sex=2
try cube table x.cube --by region --level region=1 --only region=n1
try cube table x.cube --by sex --only sex=F --margins
try cube table x.cube --by edu --group edu:g=a,a
try cube table x.cube --by edu --group edu:g=a --group edu:g=b
try cube table x.cube --by edu --group edu:c=a,b
try cube table x.cube --by edu --group edu:_T=a,b
try cube table x.cube --by edu --group edu:g=a,b --only edu=c
try cube table x.cube --by edu --group sex:g=F
try cube table x.cube --by region^1
try cube table x.cube --by edu --interval 0.95 -o edu.csv
try cube table x.cube --by edu --interval 95
try cube show x.cube --by sex
try cube plna u.yaml
try cube table u.yaml
# One changed byte of the values is found; so are a cut file and one with more.
for at in 1 97 193; do # the last byte of a number is 0 or 255
    size=$(stat -c %s x.cube)
    { head -c $((size - at)) x.cube; printf '\125'; tail -c $((at - 1)) x.cube; } >changed.cube
    cellar cube show changed.cube --verify 2>&1 >/dev/null | sed 's/table .* were/table T were/'
done
head -c -8 x.cube >cut.cube; try cube table cut.cube
{ cat x.cube; echo; } >more.cube; try cube table more.cube
printf 'CELLARCUBE\r\n\002\0\0\0' | cat - x.cube >version.cube; try cube table version.cube
# Plans that cannot be.
plan() {
    universe "$@" >bad.yaml
    cellar cube plan bad.yaml 2>&1
    echo "exit $?"
}
plan 'up_to: 2, tables: [{by: [region, sex], largest_sd: 0.5}]' 'rho: 0.5'
plan 'up_to: 2, tables: [{by: [region, sex], largest_sd: 0.5}]' 'epsilon: 1, delta: 1e-6'
plan 'up_to: 2, tables: [{by: [region, sex], largest_sd: 0.5}]' 'epsilon: 1'
plan 'up_to: 2, objective: largest, tables: [{by: [region, sex], largest_sd: 5}]' 'rho: 0.5'
plan 'up_to: 2' 'rho: 1e-9'
plan 'up_to: 2' 'epsilon: 1e-9, delta: 1e-6'
plan 'up_to: 2' 'epsilon: 1e-9'
plan 'up_to: 2' 'rho: 100000' keep 'accept: [large-epsilon]'
plan 'up_to: 2, tables: [{by: [region, sex], largest_sd: 1e-9}]' 'rho: 0.5'
plan 'up_to: 2, tables: [{by: [region^3]}]' 'rho: 0.5'
universe 'up_to: 2' 'rho: 50' | sed 's/x.cube/y.cube/' >large.yaml; try cube build large.yaml
plan 'tables: [{by: [sex, job]}]' 'rho: 0.5'
plan 'up_to: 2, without: ["sex*job"]' 'rho: 0.5'
plan 'objective: cells' 'rho: 0.5'
plan 'up_to: 1, tables: [{by: [sex, edu], structural_zeros: z.csv}]' 'rho: 0.5'
plan 'up_to: 1, tables: [{by: [sex, edu], weight: 2}, {by: [edu, sex], weight: 3}]' 'rho: 0.5'
plan 'up_to: 2' 'delta: 1e-6'
plan 'up_to: 2' 'rho: 0.5' zero
plan 'up_to: 2' 'rho: 0.5' keep 'mechanism: discrete-laplace'
plan 'up_to: 2' 'rho: 0.5' keep 'outputs: {folder: pack, formats: [csv]}'
sed 's/, codelist: edu.csv//' u.yaml >bad.yaml; try cube plan bad.yaml
printf 'plan: 1\ndata: {file: p.csv}\nvariables: [{name: sex, codelist: sex.csv}]\ntables: [{name: a, by: sex}]\nmechanism: discrete-laplace\nbudget: {epsilon: 1}\nnegatives: keep\nparameter_choice: advance\n' >list.yaml
try cube plan list.yaml
ls -A
