// SPDX-License-Identifier: GPL-3.0-or-later
// compare_jsonstat.js CSV JSONSTAT...: every cell of the CSV must be in each JSON-stat file, with
// its value, status and categories as jsonstat-toolkit sees them.
"use strict";
const fs = require("fs");
const JSONstat = require("jsonstat-toolkit");

function fail(message) {
    console.error(`FAILED ${message}`);
    process.exit(1);
}

// The sample's codes hold neither quotes nor commas, so that splitting lines is enough.
const lines = fs.readFileSync(process.argv[2], "utf8").trimEnd().split("\n").map(l => l.split(","));
const header = lines.shift();
const value = header.indexOf("count");
const status = header.indexOf("status");

for (const file of process.argv.slice(3)) {
    const text = JSON.parse(fs.readFileSync(file, "utf8"));
    const data = JSONstat(text);
    const sparse = !Array.isArray(text.value);
    if (data.class !== "dataset" || data.length !== value)
        fail(`${file}: not a dataset of ${value} dimensions`);
    if (!data.extension.cellar.confidential)
        fail(`${file}: does not say that it is confidential`);
    for (const name of data.id) {
        const dimension = data.Dimension(name);
        if (dimension.length !== data.size[data.id.indexOf(name)])
            fail(`${file}: ${name} has ${dimension.length} categories`);
        for (const id of dimension.id)
            if (typeof dimension.Category(id).label !== "string")
                fail(`${file}: ${name}: ${id} has no label`);
    }
    for (const row of lines) {
        const where = Object.fromEntries(header.slice(0, value).map((name, i) => [name, row[i]]));
        const cell = data.Data(where);
        const seen = cell.value === null && sparse ? 0 : cell.value;
        if (seen !== Number(row[value]))
            fail(`${file}: the value at ${JSON.stringify(where)}`);
        if (!sparse && (cell.status || "") !== row[status])
            fail(`${file}: the status at ${JSON.stringify(where)}`);
    }
    console.log(`${file}: ${lines.length} cells as written`);
}
