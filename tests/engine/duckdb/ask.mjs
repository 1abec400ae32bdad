// SPDX-License-Identifier: GPL-3.0-or-later
// DuckDB as a server of tests: each line of standard input is a question {"sql": ...}, each line of
// standard output its answer {"columns": [...], "rows": [[...], ...]} or {"error": ...}.
import { createInterface } from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
for await (const line of createInterface({ input: process.stdin })) {
    let answer;
    try {
        const result = await connection.runAndReadAll(JSON.parse(line).sql);
        answer = { columns: result.columnNames(), rows: result.getRowsJson() };
    } catch (error) {
        answer = { error: String(error) };
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
}
