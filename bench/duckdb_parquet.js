// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the texts of a CSV file as Parquet, as DuckDB does it unasked: snappy, dictionaries.
//
//   node duckdb_parquet.js CSV PARQUET
const { DuckDBInstance } = require('@duckdb/node-api');

async function main([csv, parquet]) {
    const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
    const connection = await instance.connect();
    await connection.run(
        `COPY (SELECT * FROM read_csv('${csv}', header = true, all_varchar = true)) TO '${parquet}' (FORMAT parquet)`,
    );
}

main(process.argv.slice(2));
