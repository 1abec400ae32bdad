// SPDX-License-Identifier: GPL-3.0-or-later
// Both programs agree on ids, draws and bodies, and open each other's messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hex, unhex } from "../src/bytes.js";
import { ticketOfRow } from "../src/messages.js";
import { bodies, open, openSubmission, scenarios, seal } from "./vectors.js";

for (const scenario of scenarios)
    test(`vectors: ${scenario}`, () => {
        const all = open(scenario);
        assert.equal(hex(ticketOfRow(all.secret, 0)), all.facts.ticket);
        for (const number of [1, 2]) {
            assert.equal(hex(all.rounds[number].id), all.facts[`round-${number}`]);
            const expected = all.facts[`opened-${number}`];
            assert.equal(openSubmission(all, number, unhex(all.facts[`by-c-${number}`])), expected);
            assert.equal(openSubmission(all, number, unhex(all.byJs[`by-js-${number}`])), expected);
            const again = seal(all, number);
            assert.equal(openSubmission(all, number, again), expected);
            assert.equal(again.length, unhex(all.facts[`by-c-${number}`]).length);
            assert.notEqual(hex(again), all.byJs[`by-js-${number}`]); // other envelopes, the same ids
        }
    });

for (const scenario of scenarios)
    test(`what chance decides: ${scenario}`, () => {
        const all = open(scenario);
        let [one, two] = ["", ""];
        for (let row = 0; row < 100; row++) {
            one += bodies(all, 1, row).map((body) => hex(body.subarray(4, 5))).join("");
            const body = bodies(all, 2, row)[0];
            two += all.decision.columns.map((_, i) => hex(body.subarray(4 * i, 4 * i + 1))).join("");
        }
        assert.equal(one, all.facts["draws-1"]);
        assert.equal(two, all.facts["draws-2"]);
    });

test("the vectors hold what is tested", () => {
    const redacted = open("redacted");
    assert.ok(redacted.decision.columns.some(({ redaction }) => redaction !== null));
    const drawn = new Set(redacted.facts["draws-2"].match(/../g));
    assert.ok(drawn.has("00") && drawn.has("0c")); // the value, and a redaction by chance
    assert.ok(new Set(open("random").facts["draws-1"].match(/../g)).size > 5);
});
