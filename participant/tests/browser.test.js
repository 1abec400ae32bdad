// SPDX-License-Identifier: GPL-3.0-or-later
// Pages in chromium take part in both rounds, beside records that the program in C sends; hostile pages do not.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage } from "./stage.js";

const COLUMNS = { system: ["Linux", "Mac", "Windows"], zone: ["east", "west"], font: ["A", "B", "C", "D", "E"] };
const POLICY = { leastK: 2, mostExposure: 0.5, leastPeople: 10 };
let stage;
let page;

before(async () => {
    stage = new Stage();
    stage.invite(COLUMNS, "--people", "13", "--k", "2", "--exposure", "0.5", "--payload", "2000");
    const rows = Array.from({ length: 11 }, (_, i) => `${i % 2 ? "Linux" : "Mac"},${i % 3 ? "east" : "west"},A`);
    stage.write("people.csv", ["system,zone,font", ...rows].join("\n") + "\n");
    await stage.open();
    page = await stage.visit();
});

after(() => stage.close());

/** What a page does as a participant: round one (`round` 1) or two, with a secret of its own. */
function takePart(target, { values, round, name = "", policy = POLICY, payload = "" }) {
    return target.evaluate(async (job) => {
        const { Participant } = await import("/src/participant.js");
        const storage = { getItem: (key) => localStorage.getItem(job.name + key),
            setItem: (key, value) => localStorage.setItem(job.name + key, value) };
        try {
            const me = await Participant.create({ ...job, storage });
            if (job.round === 1)
                return await me.sendValues(job.values) ?? "sent";
            return (await me.sendRow(job.values, new TextEncoder().encode(job.payload))).join();
        } catch (error) {
            return `${error.name}: ${error.message}`;
        }
    }, { door: stage.door, curator: stage.read("curator.pub"), values, round, name, policy, payload });
}

/** The status of a request that is not a participant's; or why a page gets none. */
async function status(target, path, options) {
    return target.evaluate(async ([url, init]) => {
        const body = init.length === undefined ? undefined : new Uint8Array(init.length);
        try {
            return (await fetch(url, { ...init, body })).status;
        } catch (error) {
            return error.name;
        }
    }, [stage.door + path, options ?? {}]);
}

const ONE = { system: "Linux", zone: "east", font: "A" };
const TWO = { system: "Mac", zone: "west", font: "A" };
const BYTES = { "Content-Type": "application/octet-stream" };
const SIZE = 44 + 3 * 168;

test("hostile pages reach nothing", async () => {
    const evil = await stage.visit(stage.evil);
    assert.match(await takePart(evil, { values: ONE, round: 1 }), /^TypeError/);
    assert.equal(await status(evil, "/invitation"), "TypeError");
    assert.equal(await status(evil, "/round-1", { method: "POST", headers: BYTES, length: SIZE }), "TypeError");
    // Without asking first a page may send texts, and does not see the answer: nothing is taken.
    assert.equal(await status(evil, "/round-1", { method: "POST", mode: "no-cors", length: SIZE }), 0);
    assert.equal(stage.waiting(1), 0);
    const answer = await fetch(`${stage.door}/round-1`, { method: "POST", body: new Uint8Array(SIZE),
        headers: { ...BYTES, Origin: "null" } });
    assert.equal(answer.status, 403);
});

test("what is no submission is refused", async () => {
    const post = async (path, headers, length) =>
        (await fetch(stage.door + path, { method: "POST", headers, body: new Uint8Array(length) })).status;
    assert.equal(await post("/round-1", BYTES, SIZE), 400); // the right length, and no submission
    assert.equal(await post("/round-1", BYTES, SIZE + 1), 400);
    assert.equal(await post("/round-1", { "Content-Type": "text/plain" }, SIZE), 415);
    assert.equal(await post("/round-2", BYTES, SIZE), 409); // nothing has been decided
    assert.equal(await post("/round-3", BYTES, SIZE), 404);
    assert.equal((await fetch(`${stage.door}/decision`)).status, 404);
    assert.equal((await fetch(`${stage.door}/../curator.key`)).status, 404);
    assert.equal((await fetch(`${stage.door}/invitation`, { method: "DELETE" })).status, 405);
    assert.equal(stage.waiting(1), 0);
});

test("round one, and a replay", async () => {
    let sent;
    page.on("request", (request) => { sent = request.method() === "POST" ? request.postDataBuffer() : sent; });
    assert.match(await takePart(page, { values: ONE, round: 1, policy: { never: ["Font"] } }), /forbids; nothing/);
    assert.match(await takePart(page, { values: { ...ONE, zone: "north" }, round: 1 }), /not among the codes/);
    assert.equal(stage.waiting(1), 0);
    assert.equal(await takePart(page, { values: ONE, round: 1 }), "sent");
    assert.equal(stage.waiting(1), 1);
    const again = await fetch(`${stage.door}/round-1`, { method: "POST", headers: BYTES, body: sent });
    assert.equal(again.status, 200); // the same bytes, from a thief: one file
    assert.equal(stage.waiting(1), 1);
    assert.equal(await takePart(page, { values: ONE, round: 1 }), "sent"); // sealed anew: counted once
    assert.equal(await takePart(page, { values: TWO, round: 1, name: "second" }), "sent");
    assert.match(await takePart(page, { values: ONE, round: 2 }), /has not decided/);
    stage.send("people.csv");
    assert.equal(stage.waiting(1), 4);
    stage.shuffle();
    stage.decide();
    assert.match(stage.read("spool/decision"), /^people 13$/m);
    const late = await fetch(`${stage.door}/round-1`, { method: "POST", headers: BYTES, body: sent });
    assert.equal(late.status, 409); // the round is over
});

test("round two, with a payload", async () => {
    const released = [...stage.read("spool/decision").matchAll(/^column (.*)$/gm)].map((found) => found[1]);
    assert.ok(released.length > 0);
    assert.match(await takePart(page, { values: ONE, round: 2, policy: { leastK: 3, mostExposure: 1 } }),
        /asks for 3/);
    assert.match(await takePart(page, { values: ONE, round: 2, payload: "x".repeat(2001) }), /at most 2000/);
    assert.equal(stage.waiting(2), 0);
    assert.equal(await takePart(page, { values: ONE, round: 2, payload: "an image" }), released.join());
    assert.equal(await takePart(page, { values: ONE, round: 2, payload: "an image" }), released.join());
    assert.equal(await takePart(page, { values: TWO, round: 2, name: "second" }), released.join());
    stage.send("people.csv", "--least-k", "2", "--most-exposure", "0.5");
    stage.shuffle();
    const people = [...stage.read("people.csv").trim().split("\n").slice(1).map((line) => line.split(",")),
        Object.values(ONE), Object.values(TWO)];
    const counts = new Map();
    for (const row of people) {
        const key = released.map((name) => row[Object.keys(COLUMNS).indexOf(name)]).join();
        counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    assert.deepEqual(stage.table("--payloads", "got"), [...counts].map(([key, n]) => `${key},${n}`).sort());
    const withPayload = stage.read("got/rows.csv").trim().split("\n").slice(1).filter((line) => !line.endsWith(","));
    assert.equal(withPayload.length, 1);
    assert.equal(stage.read(`got/${withPayload[0].split(",").at(-1)}`), "an image");
});
