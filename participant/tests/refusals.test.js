// SPDX-License-Identifier: GPL-3.0-or-later
// A lying curator, a changed paper, a policy: nothing is sent.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import sodium from "libsodium-wrappers";
import { hex, Refusal, utf8 } from "../src/bytes.js";
import { readDecision } from "../src/decision.js";
import { Guard } from "../src/guard.js";
import { readInvitation } from "../src/invitation.js";
import { roundTwo, rowBody, ticketOfRow } from "../src/messages.js";
import { Participant } from "../src/participant.js";
import { checkDecision, checkInvitation } from "../src/policy.js";
import { bytes, open, path } from "./vectors.js";

const GOOD = { leastK: 2, mostExposure: 1 };

test("any byte of a paper changed is refused", () => {
    const { curator, invitation } = open("exact");
    const readers = { invitation: (changed) => readInvitation(changed, curator),
        decision: (changed) => readDecision(changed, invitation) };
    for (const [name, read] of Object.entries(readers)) {
        const paper = bytes("exact", name);
        for (let i = 0; i < paper.length; i += 7) {
            const changed = paper.slice();
            changed[i] ^= 1;
            assert.throws(() => read(changed), Refusal, `${name} byte ${i}`);
        }
        assert.throws(() => read(paper.subarray(0, paper.length - 1)), Refusal);
        assert.throws(() => read(new Uint8Array()), Refusal);
    }
});

/** A paper of somebody else, or of a curator who signs what is wrong. */
function signed(text, keys) {
    return utf8(text + `signature ${hex(sodium.crypto_sign_detached(utf8(text), keys.privateKey))}\n`);
}

/** A collection whose curator's key we hold. */
function forged(scenario, change = (text) => text, term = "") {
    const keys = sodium.crypto_sign_keypair();
    const { curator } = open(scenario);
    const own = { ...curator, sign: keys.publicKey };
    const body = (name) => fs.readFileSync(path(scenario, name), "utf8").replace(/signature .*\n$/, "");
    const invitation = signed(body("invitation").replace(/curator-sign .*\n/,
        `curator-sign ${hex(keys.publicKey)}\n`).replace(/setting .*\n/, (line) => line + term), keys);
    const read = readInvitation(invitation, own);
    const decide = (how) =>
        signed(how(body("decision").replace(/session .*\n/, `session ${hex(read.session)}\n`)), keys);
    return { own, invitation, read, decide, decision: decide(change) };
}

test("a lying curator: what it may not say", () => {
    const good = forged("exact");
    assert.equal(readDecision(good.decision, good.read).columns.length, open("exact").decision.columns.length);
    const lies = [
        [/^k 3$/m, "k 30"], // terms that are not those of the invitation
        [/^exposure .*$/m, "exposure 0.95"],
        [/^note this is not differential privacy\n/m, ""], // words left out
        [/^column a$/m, "column z"],
        [/^column a\n/m, "column b\n"], // twice, or not in their order
        [/^theorem [23]$/m, "theorem 7"],
        [/^bound (.*)$/m, "bound 0.10"], // two spellings of one number
        [/^people 600$/m, "people 0600"],
        [/$/, "note trust me\n"],
    ];
    for (const [what, instead] of lies) {
        const { read, decision } = forged("exact", (text) => text.replace(what, instead));
        assert.throws(() => readDecision(decision, read), Refusal, `${what}`);
    }
    const other = forged("exact"); // signed by the right one, about another collection
    assert.throws(() => readDecision(good.decision, other.read), Refusal);
    assert.throws(() => readInvitation(good.invitation, other.own), Refusal);
});

test("a lying curator: what the policy finds", () => {
    const check = (change, policy = GOOD) => {
        const { read, decision } = forged("exact", change);
        checkDecision(policy, read, readDecision(decision, read));
    };
    check((text) => text);
    assert.throws(() => check((text) => text.replace(/^bound .*$/m, "bound 1")), /above what the invitation allows/);
    assert.throws(() => check((text) => text.replace(/^people .*$/m, "people 599")), /fewer people/);
    assert.throws(() => check((text) => text, { leastK: 4, mostExposure: 1 }), /asks for 4/);
    assert.throws(() => check((text) => text, { leastK: 3, mostExposure: 0 }), /policy allows 0/);
    assert.throws(() => check((text) => text, { ...GOOD, never: [" A "] }), /which the policy forbids/);
    assert.throws(() => check((text) => text, {}), /needs the least k/);
});

test("a policy binds round one", () => {
    const { invitation } = open("random");
    checkInvitation({}, invitation);
    assert.throws(() => checkInvitation({ mostEpsilon: 4.4 }, invitation), /epsilon of 4.5/);
    checkInvitation({ mostEpsilon: 4.5 }, invitation);
    assert.throws(() => checkInvitation({ mostEpsilon: 4 }, open("exact").invitation), /have no epsilon/);
    assert.throws(() => checkInvitation({ never: ["b"] }, invitation), /nothing is sent/);
    assert.throws(() => checkInvitation({ leastPeople: 601 }, invitation), /asks for 601/);
});

test("a policy that would ask for nothing", () => {
    const { invitation, decision } = open("exact");
    for (const wish of [{ leastPeople: NaN }, { leastPeople: "1000" }, { mostEpsilon: null }, { leastK: -1 },
        { mostTolerance: [] }])
        assert.throws(() => checkInvitation(wish, invitation), /needs a number from 0 on/);
    for (const wish of [{ never: "b" }, { never: [1] }, { models: "sample" }])
        assert.throws(() => checkInvitation(wish, invitation), /needs a list of names/);
    assert.throws(() => checkInvitation({ leastpeople: 1000 }, invitation), /has no 'leastpeople', but leastK/);
    assert.throws(() => checkDecision({ ...GOOD, leastPeople: NaN }, invitation, decision), /needs a number/);
    checkDecision({ ...GOOD, mostEpsilon: Infinity, never: [], models: undefined }, invitation, decision);
});

test("a payload is bytes", () => {
    const { invitation, decision } = open("payload");
    const round = roundTwo(invitation, decision);
    const ticket = ticketOfRow(new Uint8Array(32), 0);
    for (const payload of ["abc", new ArrayBuffer(3), [1, 2, 3], null])
        assert.throws(() => rowBody(round, invitation, decision, ticket, [0, 0, 0], payload), /is a Uint8Array/);
    assert.equal(rowBody(round, invitation, decision, ticket, [0, 0, 0], utf8("abc")).length, round.bodyBytes);
});

test("a decision by a model needs consent", () => {
    const { invitation, decision } = open("model");
    assert.equal(decision.theorem, 0);
    checkInvitation({}, invitation);
    assert.throws(() => checkInvitation({ mostTolerance: 0.01 }, invitation), /allows 0.01/);
    assert.throws(() => checkDecision(GOOD, invitation, decision), /does not accept one/);
    checkDecision({ ...GOOD, mostTolerance: 0.02 }, invitation, decision);
});

test("a decision by a sample or a cube needs consent to that kind", () => {
    for (const kind of ["sample", "cube"]) {
        const { invitation, decision } = open(kind);
        const accepted = { ...GOOD, mostTolerance: 0.02 };
        assert.equal(invitation.terms.model.kind, kind);
        assert.equal(decision.theorem, 0);
        checkInvitation({}, invitation);
        assert.throws(() => checkInvitation({ mostTolerance: 0.02 }, invitation), /does not accept such a model/);
        assert.throws(() => checkDecision(GOOD, invitation, decision), /does not accept one/);
        assert.throws(() => checkDecision(accepted, invitation, decision), /rests on a (sample|cube)/);
        assert.throws(() => checkDecision({ ...accepted, models: ["independence"] }, invitation, decision), Refusal);
        assert.throws(() => checkDecision({ ...GOOD, mostTolerance: 0.01, models: [kind] }, invitation, decision),
            /allows 0.01/);
        checkDecision({ ...accepted, models: ["independence", kind] }, invitation, decision);
    }
});

test("a lying curator: every word about the model's file", () => {
    const lies = [
        [/^model sample$/m, "model cube"],
        [/^model sample\n.*\n.*$/m, "model independence"],
        [/^model-file (.)/m, (all, digit) => `model-file ${digit === "0" ? "1" : "0"}`],
        [/^model-people .*$/m, "model-people 1000000"],
        [/^tolerance .*$/m, "tolerance 0.01"],
        [/^delta .*$/m, "delta 0.02"],
        [/^note if columns hang together/m, "note columns hang together"],
        [/^note the analyst counts.*\n/m, ""],
    ];
    const { read } = forged("sample");
    for (const [what, instead] of lies) {
        const { read: other, decision } = forged("sample", (text) => {
            const changed = text.replace(what, instead);
            assert.notEqual(changed, text, `${what}`);
            return changed;
        });
        assert.throws(() => readDecision(decision, other), Refusal, `${what}`);
    }
    assert.equal(read.terms.model.people, open("sample").invitation.terms.model.people);
});

/** A door in this process: hands out papers, remembers what was posted. */
function fakeDoor(papers) {
    const posted = [];
    globalThis.fetch = async (url, options) => {
        const name = new URL(url).pathname.slice(1);
        assert.equal(options.credentials, "omit");
        if (options.method === "POST") {
            posted.push({ name, bytes: options.body });
            return new Response("", { status: 200 });
        }
        return papers[name] === undefined ? new Response("", { status: 404 }) : new Response(papers[name]);
    };
    return posted;
}

function storage() {
    const kept = new Map();
    return { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value) };
}

/** The text of curator.pub. */
function identity(own) {
    return "cellar collect identity 2\nrole curator\n" +
        ["key", "box", "sign"].map((part) => `${part} ${hex(own[part])}\n`).join("");
}

const MINE = { a: "c1", b: "c2", c: "c7" };

test("a curator that decides twice gets no second answer", async () => {
    const first = forged("exact");
    const papers = { invitation: first.invitation };
    const posted = fakeDoor(papers);
    const me = await Participant.create({ door: "http://door.example/", curator: identity(first.own), policy: GOOD,
        storage: storage() });
    await me.sendValues(MINE);
    await assert.rejects(me.sendRow(MINE), /has not decided/);
    papers.decision = first.decision;
    await me.sendRow(MINE);
    await me.sendRow(MINE); // again: the same ids
    assert.deepEqual(posted.map(({ name }) => name), ["round-1", "round-2", "round-2"]);
    papers.decision = first.decide((text) => text.replace(/^people 600$/m, "people 601"));
    await assert.rejects(me.sendRow(MINE), /asks twice/);
    await assert.rejects(me.accept(), /asks twice/); // and sites are not answered by it
    await assert.rejects(me.sendRow({ ...MINE, a: "x" }), /not among the codes/);
    assert.equal(posted.length, 3);
});

test("a secret that is none", async () => {
    const { own, invitation } = forged("exact");
    const posted = fakeDoor({ invitation });
    for (const secret of ["", "ab", "zz".repeat(32), "ab".repeat(33), "ab".repeat(32) + "\n"]) {
        const me = await Participant.create({ door: "http://door.example", curator: identity(own), policy: GOOD,
            storage: { getItem: () => secret } });
        await assert.rejects(me.sendValues(MINE), /secret.*is damaged/);
    }
    assert.equal(posted.length, 0);
});

test("what the policy refuses, sites are not answered by", async () => {
    const { own, invitation, decision } = forged("exact");
    fakeDoor({ invitation, decision });
    const me = await Participant.create({ door: "http://door.example/", curator: identity(own),
        policy: { ...GOOD, leastK: 4 }, storage: storage() });
    assert.equal((await me.decision()).columns.length, 3);
    await assert.rejects(me.accept(), /asks for 4/);
});

test("values that the decision redacts are not given to sites", () => {
    const guard = new Guard(open("redacted").decision, { a: "c1", b: "c2", c: "c0" });
    assert.deepEqual(guard.ask(["a"]), { a: "c1" });
    assert.equal(guard.ask(["c"]), null);
    assert.equal(guard.ask(["a", "c"]), null);
});

test("a guard gives nothing that was not on the code lists", () => {
    const { decision } = open("exact");
    for (const a of ["c1 ", "С1", 1, NaN, undefined, ["c1"], "x".repeat(1e6)])
        assert.throws(() => new Guard(decision, { ...MINE, a }), /column 'a': the value is not among the codes/);
    const codes = ["c1"];
    for (const name of ["__proto__", "constructor"]) // what every object has is no value
        assert.throws(() => new Guard({ columns: [{ name, codes, redaction: null }] }, {}), Refusal);
    const guard = new Guard(decision, { ...MINE, other: "secret" });
    for (const name of ["other", "__proto__", "constructor", "toString", "A", "a "])
        assert.equal(guard.ask([name]), null);
});

test("a page that keeps a guard busy is not answered", () => {
    const answers = [];
    let ask;
    new Guard(open("exact").decision, MINE).listen({ addEventListener: (_, listener) => { ask = listener; } });
    const source = { postMessage: (answer) => answers.push(answer) };
    for (const columns of [Array(2 ** 32 - 1), Array(3), Array(65).fill("a"), "a", { length: 1 }, [["a"]], [null]])
        ask({ data: { ask: columns }, source });
    for (const data of [undefined, null, 1, "ask"])
        ask({ data, source });
    assert.equal(answers.length, 0);
    ask({ data: { ask: Array(64).fill("a") }, source });
    ask({ data: { ask: ["a"] }, source: null });
    assert.deepEqual(answers.map(({ answer, values }) => [answer, values]), [["allow", { a: "c1" }]]);
});

test("three times 0.1 is 0.3", () => {
    const { invitation } = open("random");
    const tenth = { ...invitation, terms: { ...invitation.terms, epsilon: 10n ** 17n } };
    checkInvitation({ mostEpsilon: 0.3 }, tenth);
    assert.throws(() => checkInvitation({ mostEpsilon: 0.29 }, tenth), /epsilon of 0.3; /);
});

test("what this participant cannot do is declined", () => {
    for (const line of ["tally published\n", "order 2\ncommon 5\n"])
        assert.throws(() => forged("exact", undefined, line), /with the program cellar/);
});
