// SPDX-License-Identifier: GPL-3.0-or-later
// usage: node duckdb_tables.js FILE.csv SECONDS PROCESSOR
// All tables of three columns by DuckDB, one GROUP BY each, on a table in memory: as the file was
// loaded, and with every column an enumeration. Loading is not measured. SECONDS and PROCESSOR are
// what Cellar took from the file.
const { DuckDBInstance } = require('@duckdb/node-api');

function row(what, value, unit, goal) {
    console.log(`  ${what.padEnd(58)} ${value.toFixed(3).padStart(10)} ${unit.padEnd(8)} ${goal}`);
}

// The time of all tables: on the clock on the wall, and of the processor.
async function measure(connection, table, columns) {
    const start = process.hrtime.bigint(), used = process.cpuUsage();
    for (let i = 0; i < columns.length; i++)
        for (let j = i + 1; j < columns.length; j++)
            for (let k = j + 1; k < columns.length; k++) {
                const by = `${columns[i]}, ${columns[j]}, ${columns[k]}`;
                await connection.runAndReadAll(`SELECT ${by}, count(*) FROM ${table} GROUP BY ${by}`);
            }
    const cpu = process.cpuUsage(used);
    return [Number(process.hrtime.bigint() - start) / 1e9, (cpu.user + cpu.system) / 1e6];
}

async function main() {
    const [file, seconds, processor] = process.argv.slice(2);
    const db = await DuckDBInstance.create(':memory:', { threads: '2' });
    const connection = await db.connect();
    await connection.run(`CREATE TABLE loaded AS SELECT * FROM read_csv('${file}')`);
    const columns = (await connection.runAndReadAll('SELECT * FROM loaded LIMIT 1')).columnNames();
    for (const c of columns)
        await connection.run(`CREATE TYPE type_${c} AS ENUM (SELECT DISTINCT ${c} FROM loaded)`);
    const typed = columns.map((c) => `${c}::type_${c} AS ${c}`).join(', ');
    await connection.run(`CREATE TABLE coded AS SELECT ${typed} FROM loaded`);
    for (const [table, words] of [['loaded', 'as loaded'], ['coded', 'enumerations']]) {
        const [wall, cpu] = await measure(connection, table, columns);
        row(`DuckDB, a GROUP BY for each table of three, ${words}`, wall, 's', '');
        row('the same, processor time', cpu, 's', '');
        row('DuckDB / Cellar from the file', wall / seconds, 'times',
            table === 'loaded' ? 'goal: at least 10' : '');
        row('the same, processor time', cpu / processor, 'times', '');
    }
}

main();
