// SPDX-License-Identifier: GPL-3.0-or-later
// server_openapi.js URL: every answer of PxWebApi 2 against the interface's own definition (PXAPI).
"use strict";
const fs = require("fs");
const yaml = require("js-yaml");
const Validator = require("openapi-response-validator").default;

const api = yaml.load(fs.readFileSync(process.env.PXAPI, "utf8"));
const base = `${process.argv[2]}/api/v2`;
let wrong = 0, checked = 0;

// What the validator cannot read: examples in other files, a boolean exclusiveMaximum, \- in patterns.
function mend(node) {
    if (node === null || typeof node !== "object")
        return;
    delete node.examples;
    if (node.exclusiveMaximum === true) {
        node.exclusiveMaximum = node.maximum;
        delete node.maximum;
    }
    if (typeof node.pattern === "string")
        node.pattern = node.pattern.replace(/\\-/g, "-");
    Object.values(node).forEach(mend);
}
mend(api);
// The definition requires a member `values` where it describes, and its makers send, `valueCodes`.
api.components.schemas.VariableSelection.required = ["variableCode", "valueCodes"];

async function check(path, method, status, address, body, schema) {
    const answer = await fetch(base + address, body && { method: "POST", body: JSON.stringify(body) });
    const found = await answer.json();
    const responses = {};
    for (const [code, response] of Object.entries(api.paths[path][method].responses))
        responses[code] = response.$ref ? api.components.responses[response.$ref.split("/").pop()] : response;
    if (schema) // the definition says "string" of the JSON of data
        responses[200] = { description: "", content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } } };
    const problem = new Validator({ responses, components: api.components }).validateResponse(answer.status, found);
    checked++;
    if (answer.status !== status || problem) {
        wrong++;
        console.error(`${method} ${address}: ${answer.status}`, JSON.stringify(problem && problem.errors.slice(0, 5)));
    }
    return found;
}

async function main() {
    const table = "/tables/country", data = "/tables/{id}/data";
    const selection = { selection: [{ variableCode: "region", valueCodes: ["*"] }] };
    await check("/config", "get", 200, "/config");
    await check("/tables", "get", 200, "/tables?query=country&pageSize=1");
    await check("/tables/{id}", "get", 200, table);
    await check("/tables/{id}", "get", 404, "/tables/none");
    for (const query of ["", "?lang=sv", "?defaultSelection=true", "?codelist[region]=region^1"])
        await check("/tables/{id}/metadata", "get", 200, `${table}/metadata${query}`);
    await check("/tables/{id}/defaultselection", "get", 200, `${table}/defaultselection`);
    for (const query of ["", "?valuecodes[region]=*&stub=region", '?valuecodes[age]=top(2),[range("(15,30]","(45,60]")]',
        "?codelist[region]=country.region^1&valuecodes[region]=*&lang=sv"])
        await check(data, "get", 200, `${table}/data${query}`, null, "Dataset");
    await check(data, "get", 400, `${table}/data?valuecodes[none]=1`);
    await check(data, "get", 403, `${table}/data?valuecodes[region]=*&valuecodes[sex]=*&valuecodes[age]=*&valuecodes[occupation]=*`);
    await check(data, "post", 200, `${table}/data`, selection, "Dataset");
    await check("/codelists/{id}", "get", 200, "/codelists/country.region^1");
    await check("/codelists/{id}", "get", 404, "/codelists/none");
    const saved = await check("/savedqueries", "post", 201, "/savedqueries", { tableId: "country", language: "en", selection });
    await check("/savedqueries/{id}", "get", 200, `/savedqueries/${saved.id}`);
    await check("/savedqueries/{id}/selection", "get", 200, `/savedqueries/${saved.id}/selection`);
    await check("/savedqueries/{id}/data", "get", 200, `/savedqueries/${saved.id}/data`, null, "Dataset");
    console.log(`${checked} answers, ${wrong} against the definition`);
    process.exit(wrong > 0 ? 1 : 0);
}
main().catch(error => { console.error(error); process.exit(1); });
