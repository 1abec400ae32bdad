# SPDX-License-Identifier: GPL-3.0-or-later
# Typical mistakes: each line of the table is an exit status, a piece of the sentence that helps, and
# the command. Nothing is written to standard output by any of them, and no sentence has a hole.
umask 022
printf 'region,sex,age\n1,F,20\n2,M,30\n1,M,44\n2,F,51\n' >people.csv
tr , ';' <people.csv >semicolon.csv
tr , '\t' <people.csv >tabs.csv
printf 'region,sex,age\n1,F,20\n2,,30\n1,NA,\n' >gaps.csv
printf 'PK\003\004\024\000\006\000[Content_Types].xml' >book.csv
gzip -c book.csv >book.csv.gz
printf 'PAR1\025\004\025' >columns.csv
printf '[{"region": 1}]\n' >records.json
printf 'region,sex\nZ\374rich,F\n' >latin.csv
printf 'r\351gion,sex\n1,F\n' >latin_header.csv
printf '\377\376r\000' >utf16.csv
: >empty.csv
printf 'region,sex\n' >header.csv
printf 'region,region\n1,2\n' >twice.csv
printf 'region,n\n1,-3\n' >negative.csv
printf 'region,sex,w\n1,F,2.5\n2,M,NaN\n' >nan.csv
printf 'region,sex,w\n1,F,2.5\n2,M,1\n' >weighted.csv
printf 'code,label\nF,female\nM,male\n' >sex.csv
printf 'code\nF\n' >short.csv
printf 'code\n1\n2\n' >region.csv
printf 'region,sex,count\n1,F,-2\n' >counts.csv
mkdir folder
lists="--domain region=region.csv --domain sex=sex.csv"
{
    cellar tabulate people.csv --by region,sex $lists -o table.json
    cellar tabulate people.csv --by region,sex $lists --margins all -o margins.json
    cellar tabulate people.csv --by region,sex -o observed.json
    cellar tabulate weighted.csv --by region,sex $lists --weight w -o weighted.json
    cellar ledger create books --dataset census --unit person --neighbours add-remove --epsilon 5
} 2>setup || cat setup
noise="--mechanism laplace:epsilon=1 --negatives keep"

n=0
while IFS='|' read -r status piece command; do
    n=$((n + 1))
    eval "cellar $command" >stdout 2>stderr </dev/null
    found=$?
    if [ "$found" -ne "$status" ] || ! grep -qF -- "$piece" stderr || [ -s stdout ] ||
        grep -qF '(null)' stderr; then
        echo "cellar $command: exit status $found, not $status, or no '$piece' in:"
        cat stderr
    fi
done <<'TABLE'
2|--delimiter ';'|tabulate semicolon.csv --by region
2|--delimiter tab|tabulate tabs.csv --by region
1|book.csv: is a workbook (xlsx, ods)|tabulate book.csv --by region
1|book.csv.gz: is a workbook|describe book.csv.gz
1|is a workbook|protect book.csv $noise -o out.csv
1|the Parquet file is damaged: it is cut short|describe columns.csv
1|is JSON; write its records as CSV|describe records.json
1|is text in UTF-16; save it as UTF-8|describe utf16.csv
1|latin.csv:2: column 'region': the field is not text in the encoding of the file; --encoding latin1|tabulate latin.csv --by region
1|--encoding latin1|tabulate latin_header.csv --by sex
1|gaps.csv:3: column 'sex': the value is missing|tabulate gaps.csv --by sex
1|--missing-as drop or level|tabulate gaps.csv --by sex
1|column 'age': the value is missing|tabulate gaps.csv --by sex,age --missing-as sex=level
2|--missing-as must be one of drop|tabulate gaps.csv --by sex --missing-as sex=lvel
2|'sxe' is not a variable of --by; did you mean 'sex'?|tabulate gaps.csv --by sex --missing-as sxe=level
2|or drop them (--missing-as sex=drop)|tabulate gaps.csv --by sex --missing-as level --domain sex.csv
1|name text that means missing (--missing)|tabulate gaps.csv --by sex --missing-as drop --domain sex.csv
1|the value is outside the code list|tabulate people.csv --by sex --domain sex=short.csv
1|expected a number|tabulate people.csv --by sex --band sex=5
2|did you mean 'tabulate'?|tabulat people.csv --by sex
2|did you mean --by?|tabulate people.csv --bby sex
2|the name of column 1 is close to it|tabulate people.csv --by regoin
2|cellar describe lists them|tabulate people.csv --by occupation
2|--by A,B,C|tabulate people.csv
1|empty.csv:1: the file is empty|tabulate empty.csv --by region
1|no row was counted|tabulate header.csv --by region
1|--no-header|tabulate twice.csv --by region
1|a whole number of at least 0|tabulate negative.csv --by region --count n
1|expected a weight|tabulate nan.csv --by region --weight w
1|No such file|tabulate absent.csv --by region
1|folder|tabulate folder --by region
1|table.json: exists already; choose another name or allow replacing it (--force)|tabulate people.csv --by region,sex -o table.json
2|is the data file|tabulate people.csv --by region,sex -o people.csv --force
1|counts.csv:2|protect counts.csv $noise -o out.csv
1|to be tabulated first (cellar tabulate)|protect people.csv $noise -o out.csv
2|--mechanism SPEC); what becomes of negative values (--negatives keep|protect table.json
2|--dataset NAME); what the release is called in the ledger (--request ID)|protect table.json $noise -o out.csv --ledger books
2|--total-epsilon E, and no epsilon in the spec), or that the parameters are meant for each cell (--per-cell)|protect margins.json $noise -o out.csv
3|(--max-weight W)|protect weighted.json $noise -o out.csv
3|tabulate --max-weight W|protect weighted.json $noise --max-weight 3 -o out.csv
3|--domain VARIABLE=FILE), or assert that they are public (--domain-public)|protect observed.json $noise -o out.csv
2|--total-epsilon 1 --delta 1e-6|protect margins.json --mechanism gaussian --total-epsilon 1 --negatives keep -o out.csv
2|gaussian:sigma=5 or gaussian:epsilon=1,delta=1e-6|protect table.json --mechanism gaussian --negatives keep -o out.csv
3|leave sigma out of the spec|protect margins.json --mechanism gaussian:sigma=3 --total-epsilon 1 --delta 1e-6 --negatives keep -o out.csv
3|--accept large-epsilon|protect table.json --mechanism laplace:epsilon=50 --negatives keep -o out.csv
2|did you mean 'laplace'?|protect table.json --mechanism lapalce:epsilon=1 --negatives keep -o out.csv
2|must be a number such as 0.5|protect table.json --mechanism laplace:epsilon=nan --negatives keep -o out.csv
1|absent: there is no such ledger; 'cellar ledger create' makes one|protect table.json $noise -o out.csv --ledger absent --dataset census --request r
1|there is no such ledger|ledger show absent
2|did you mean 'census'?|protect table.json $noise -o out.csv --ledger books --dataset cenus --request r
3|without --unit and --neighbours a release has the dataset's|protect table.json $noise -o out.csv --ledger books --dataset census --request r --unit dwelling
TABLE
echo "$n mistakes"
ls out.* 2>/dev/null || echo "nothing was released"
