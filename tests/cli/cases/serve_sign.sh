# SPDX-License-Identifier: GPL-3.0-or-later
# A configuration is signed with the code lists that it names; whoever changes one of them is found out.
printf 'code\nF\nM\n' >sex.csv
mkdir public
cat >site.yaml <<'END'
serve: 1
site: {title: Census}
datasets:
  - id: census
    kind: budget
    title: Census
    population: residents
    folder: public
    records:
      data: {file: people.csv, edition: "2026"}
      unit: {name: person}
      variables: [{name: sex, codelist: sex.csv}]
    ledger: {file: census.ledger, dataset: census}
    budget:
      cap: {rho: 1}
      neighbours: add-remove
      negatives: keep
      parameter_choice: advance
      classes: [{variables: 1, mechanism: "discrete-gaussian:sigma=5"}]
END
cellar key create office.key >/dev/null 2>&1
cellar key public office.key -o office.pub 2>/dev/null
cellar key create other.key >/dev/null 2>&1
cellar key public other.key -o other.pub 2>/dev/null
hide() { sed 's/[0-9a-f]\{16\}/ID/'; }
cellar serve verify site.yaml --key office.pub 2>&1 | hide
cellar serve sign site.yaml --key office.key 2>&1 | hide
sed 's/[0-9a-f]\{128\}/SIGNATURE/; s/key [0-9a-f]*/key ID/' site.yaml.sig
cellar serve verify site.yaml --key office.pub 2>&1 | hide
cellar serve verify site.yaml --key other.pub 2>&1 | hide
printf 'code\nF\nM\nX\n' >sex.csv
cellar serve verify site.yaml --key office.pub 2>&1 | hide
printf 'code\nF\nM\n' >sex.csv
sed -i 's/sigma=5/sigma=4/' site.yaml
cellar serve verify site.yaml --key office.pub 2>&1 | hide
cellar serve verify site.yaml --key office.pub 2>/dev/null
echo "exit $?"
cellar serve sign site.yaml 2>&1
echo "exit $?"
cellar serve sign --json site.yaml --key office.key 2>&1
echo "exit $?"
