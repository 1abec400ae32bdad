// SPDX-License-Identifier: GPL-3.0-or-later
// Browser fingerprinting (section 2.3 of the paper): 300 simulated browsers, one of them chromium, take part; then a
// site of another origin asks for properties, and every answer, allow or block, is that of a party who has seen all
// records.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage } from "./stage.js";

const K = 5;
const ALLOWED = 0.05;
const COLUMNS = { system: ["Windows", "Android", "Mac"], language: ["en", "de", "sv"], theme: ["light", "dark"],
    fonts: Array.from({ length: 40 }, (_, i) => `set${i}`) };
const SHARES = { system: [0.5, 0.3, 0.2], language: [0.6, 0.25, 0.15], theme: [0.6, 0.4], fonts: Array(40).fill(1 / 40) };
const NAMES = Object.keys(COLUMNS);
let stage;

/** A fixed sequence of numbers from 0 to 1. */
function* numbers() {
    for (let state = 20261; ; yield state / 2147483647)
        state = state * 16807 % 2147483647;
}

function simulate(n) {
    const draws = numbers();
    const pick = (name) => {
        let u = draws.next().value;
        const level = SHARES[name].findIndex((share) => (u -= share) < 0);
        return COLUMNS[name][level < 0 ? COLUMNS[name].length - 1 : level];
    };
    return Array.from({ length: n }, () => Object.fromEntries(NAMES.map((name) => [name, pick(name)])));
}

/** A trusted party: the share of browsers that fewer than K share all of these values with. */
function exposure(browsers, columns) {
    const counts = new Map();
    const key = (browser) => columns.map((name) => browser[name]).join();
    for (const browser of browsers)
        counts.set(key(browser), (counts.get(key(browser)) ?? 0) + 1);
    return browsers.filter((browser) => counts.get(key(browser)) < K).length / browsers.length;
}

/** The participant's page in a frame of a site's. */
async function embed(site, url) {
    await site.evaluate((address) => new Promise((loaded) => {
        const frame = document.createElement("iframe");
        frame.onload = () => loaded();
        frame.src = address;
        document.body.append(frame);
    }), url);
    return site.frames()[1];
}

/** What a site gets that asks its frame for each of these sets of columns. What is no question has no answer. */
function siteAsks(site, asked) {
    return site.evaluate(async (sets) => {
        const answers = [];
        for (const noise of [null, "system", {}, { ask: "system" }, { ask: [1] }, { ask: [["system"]] }])
            frames[0].postMessage(noise, "*");
        for (const ask of sets)
            answers.push(await new Promise((got) => {
                window.addEventListener("message", ({ data }) => got(data), { once: true });
                frames[0].postMessage({ ask }, "*");
            }));
        return answers;
    }, asked);
}

before(async () => {
    stage = new Stage();
    stage.invite(COLUMNS, "--people", "300", "--k", `${K}`, "--exposure", `${ALLOWED}`, "--model", "independence",
        "--tolerance", "0.01");
    await stage.open();
});

after(() => stage.close());

test("sites ask, and get what a trusted party would allow", async () => {
    const browsers = simulate(300);
    const lines = browsers.slice(1).map((browser) => NAMES.map((name) => browser[name]).join());
    stage.write("others.csv", [NAMES.join(), ...lines].join("\n") + "\n");
    const site = await stage.visit(stage.evil);
    const page = await embed(site, stage.origin);
    const job = { door: stage.door, curator: stage.read("curator.pub"), values: browsers[0],
        policy: { leastK: K, mostExposure: ALLOWED, mostTolerance: 0.01 } };
    const asked = Array.from({ length: 2 ** NAMES.length - 1 }, (_, set) =>
        NAMES.filter((_, c) => (set + 1) >> c & 1));

    const before = await page.evaluate(async ([{ values }, columns]) => {
        const { Guard } = await import("/src/guard.js");
        return columns.map((some) => new Guard(null, values).decide(some));
    }, [job, asked]);
    assert.ok(before.every((answer) => answer === "block")); // nothing was decided yet
    assert.match(await site.evaluate(() => {
        try {
            return frames[0].localStorage.length;
        } catch (error) {
            return error.name;
        }
    }), /SecurityError/); // a site has questions only

    await page.evaluate(async (own) => {
        const { Participant } = await import("/src/participant.js");
        await (await Participant.create(own)).sendValues(own.values);
    }, job);
    stage.send("others.csv");
    stage.shuffle();
    stage.decide();
    await page.evaluate(async (own) => {
        const { Participant } = await import("/src/participant.js");
        const { Guard } = await import("/src/guard.js");
        const me = await Participant.create(own);
        new Guard(await me.accept(), own.values).listen(window);
        await me.sendRow(own.values);
    }, job);
    const answers = await siteAsks(site, asked);

    for (const [i, columns] of asked.entries()) {
        const trusted = exposure(browsers, columns) <= ALLOWED ? "allow" : "block";
        const values = Object.fromEntries(columns.map((name) => [name, browsers[0][name]]));
        assert.deepEqual(answers[i], { columns, answer: trusted, values: trusted === "allow" ? values : null });
    }
    assert.equal(answers.filter(({ answer }) => answer === "allow").length, 7); // three of the four together
    stage.send("others.csv", "--least-k", `${K}`, "--most-exposure", `${ALLOWED}`, "--most-tolerance", "0.01");
    stage.shuffle();
    assert.ok(stage.table().length > 10); // the check after round two holds
});
