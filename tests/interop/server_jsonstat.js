// SPDX-License-Identifier: GPL-3.0-or-later
// server_jsonstat.js URL CSV: jsonstat-toolkit must see in the server's JSON-stat every value of the CSV.
"use strict";
const fs = require("fs");
const toolkit = require("jsonstat-toolkit");
const JSONstat = toolkit.default || toolkit;

// The codes of the small country hold commas in quotes: ages such as (15,30].
const rows = fs.readFileSync(process.argv[3], "utf8").trimEnd().split("\n")
    .map(line => [...line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)].map(m => m[2] !== undefined ? m[2] : m[1]));
const header = rows.shift();

async function main() {
    const url = `${process.argv[2]}/api/v2/tables/country/data?valuecodes[region]=*&valuecodes[age]=*`;
    const data = JSONstat(await (await fetch(url)).json());
    if (data.class !== "dataset" || data.role.metric[0] !== "ContentsCode" || data.role.time[0] !== "period")
        throw new Error("no dataset with a metric and a time");
    for (const row of rows) {
        const [region, age] = [row[header.indexOf("region")], row[header.indexOf("age")]];
        for (const [code, column] of [["count", "estimate"], ["se", "se"]]) {
            const cell = data.Data({ region, age, period: "2026", ContentsCode: code });
            if (cell.value !== Number(row[header.indexOf(column)]))
                throw new Error(`${region} ${age} ${code}: ${cell.value}`);
        }
    }
    console.log(`${2 * rows.length} values equal`);
}
main().catch(error => { console.error(error); process.exit(1); });
