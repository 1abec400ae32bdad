// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of bench_store by DuckDB, on its own storage and two threads.
//
//   node duckdb_store.mjs load DATABASE     the records, from standard input
//   node duckdb_store.mjs count DATABASE    times, and the digests that bench_store prints
//
// Codes are stored as one-byte numbers, which DuckDB groups fastest.
import { DuckDBInstance } from '@duckdb/node-api';

const RUNS = 5;
const [action, path] = process.argv.slice(2);
const columns = Array.from({ length: 20 }, (_, c) => `c${c}`);

async function load(connection) {
    const types = columns.map((c) => `'${c}': 'UTINYINT'`).join(', ');
    await connection.run(
        `CREATE TABLE people AS SELECT * FROM read_csv('/dev/stdin', header = true, columns = {${types}, 'key': 'UBIGINT'})`,
    );
    await connection.run('CHECKPOINT');
}

const middle = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function measure(connection, sql) {
    const elapsed = [];
    const processor = [];
    for (let run = 0; run <= RUNS; run++) {
        const start = performance.now();
        const before = process.cpuUsage();
        await connection.runAndReadAll(sql);
        const used = process.cpuUsage(before);
        if (run > 0) {
            elapsed.push(performance.now() - start);
            processor.push((used.user + used.system) / 1000);
        }
    }
    return { elapsed: middle(elapsed), processor: middle(processor) };
}

async function count(connection) {
    for (const by of ['c0,c2,c4', 'c1,c3,c5', 'c3,c6,c7'])
        for (const keyed of [false, true]) {
            const sums = keyed ? ', sum("key") % 4294967296 AS k' : '';
            const table = `SELECT ${by}, count(*) AS n${sums} FROM people GROUP BY ${by}`;
            const time = await measure(connection, table);
            const digest = await connection.runAndReadAll(
                `SELECT sum(${keyed ? 'k' : 'n * n'})::VARCHAR FROM (${table})`,
            );
            const what = keyed ? `${by.replaceAll(',', '*')} with cell keys` : by.replaceAll(',', '*');
            console.log(`  DuckDB ${what.padEnd(51)} ${time.elapsed.toFixed(3).padStart(10)} ms`);
            console.log(`  ${'  processor time'.padEnd(58)}${time.processor.toFixed(3).padStart(10)} ms`);
            console.log(`${keyed ? 'key digest' : 'digest'} ${by} ${digest.getRows()[0][0]}`);
        }
}

const instance = await DuckDBInstance.create(path, { threads: '2' });
const connection = await instance.connect();
if (action === 'load') await load(connection);
else await count(connection);
connection.closeSync();
