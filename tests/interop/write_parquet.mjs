// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the columns of FOLDER/texts.csv, each as its type in TYPES, in every compression and version of Parquet that
// DuckDB knows, and names the files on standard output.
//
//   node write_parquet.mjs FOLDER NAME=TYPE...
import { DuckDBInstance } from '@duckdb/node-api';

const COMPRESSIONS = ['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4', 'lz4_raw'];
const [folder, ...columns] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
const connection = await instance.connect();
const typed = columns.map((column) => {
    const [name, type] = column.split('=');
    return type === 'BLOB' ? `encode(${name}) AS ${name}` : `CAST(${name} AS ${type}) AS ${name}`;
});
await connection.run("SET TimeZone = 'UTC'");
await connection.run(
    `CREATE TABLE typed AS SELECT ${typed.join(', ')} FROM read_csv('${folder}/texts.csv', header = true, all_varchar = true)`,
);
for (const compression of COMPRESSIONS)
    for (const version of ['V1', 'V2'])
        for (const dictionary of [1, 1000000]) {
            const file = `${folder}/${compression}-${version}-${dictionary}.parquet`;
            await connection.run(
                `COPY typed TO '${file}' (FORMAT parquet, COMPRESSION ${compression}, PARQUET_VERSION ${version},
                 ROW_GROUP_SIZE 4096, DICTIONARY_SIZE_LIMIT ${dictionary})`,
            );
            console.log(file);
        }
