# SPDX-License-Identifier: GPL-3.0-or-later
# The question for a database: names and values are quoted, and what cannot be asked is refused.
printf "code\nO'Neill\nback\\\\slash\n" >name.csv
for dialect in postgresql sqlite mariadb clickhouse; do
    cellar sql 'census.peo"ple`' --dialect $dialect --by name --domain name.csv --missing-as drop --where 'age>=1.5'
done
cellar sql people --dialect duckdb --by name
cellar sql people --dialect duckdb --by age --band age=5
cellar sql people --dialect sqlite --by name --domain name.csv --record-key k
cellar sql people --dialect sqlite --by name --domain name.csv --unit u --max-per-unit 1
cellar sql '"people' --dialect postgresql --by name --domain name.csv
cellar sql people --dialect postgresql --by name --domain name.csv --where 'age>1.00000000000000000000000000001'
cellar tabulate people --from oracle:x --by name --domain name.csv
cellar tabulate people --from sqlite:nothing.db --by name --domain name.csv
cellar tabulate people --from 'postgresql:host=/nowhere password=x' --by name --domain name.csv
cellar tabulate people --from 'odbc:Driver=x;PWD=y' --by name --domain name.csv
cellar tabulate people --from 'clickhouse:http://user:secret@localhost/' --by name --domain name.csv
cellar tabulate people --from 'clickhouse:http://localhost/?database=x#y' --by name --domain name.csv
for place in postgresql://user:geheim@host/db postgresql:user:geheim@host 'postgresql:host=x pass word=geheim' \
    'odbc:Driver={a;b};	SSLPassword=geheim' 'odbc:AccessToken=geheim' 'clickhouse:http://host/?user=x&PASSWORD=geheim'; do
    cellar tabulate people --from "$place" --by name --domain name.csv
done
cellar sql people --dialect postgresql --by name --domain name.csv --where "$(printf %064d)=1"
cellar sql "$(printf %063d).$(printf %064d)" --dialect postgresql --by name --domain name.csv
cellar sql people --dialect postgresql --by name --domain name.csv --for-store
cellar sql people --dialect postgresql --by name --domain name.csv --for-store --weight w
cellar store build people --from sqlite:nothing.db -o people.store
cellar store build people --from sqlite:nothing.db --columns name -o people.store
cellar store build people --from sqlite:nothing.db --columns name --domain name.csv --unit u -o people.store
ls people.store
