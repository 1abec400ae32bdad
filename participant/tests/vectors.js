// SPDX-License-Identifier: GPL-3.0-or-later
// The test vectors in ../vectors, which src/protocol is tested with, too (tests/unit/test_collect_vectors.c), and
// what only roles do: opening messages.
import fs from "node:fs";
import sodium from "libsodium-wrappers";
import { hex, same, unhex } from "../src/bytes.js";
import { readDecision } from "../src/decision.js";
import { readIdentity, readInvitation } from "../src/invitation.js";
import { HEADER_BYTES, outerBytes, roundOne, roundTwo, rowBody, submission, ticketOfRow, valueBodies }
    from "../src/messages.js";

const folder = new URL("../vectors/", import.meta.url);
export const scenarios = ["exact", "random", "redacted", "payload", "model", "sample", "cube"];
export const values = ["c1", "c2", "c0"];
const PAYLOAD = new TextEncoder().encode("not an image, 21 long");

export function path(scenario, name) {
    return new URL(`${scenario}/${name}`, folder);
}

export function bytes(scenario, name) {
    return new Uint8Array(fs.readFileSync(path(scenario, name)));
}

function facts(scenario, name) {
    const lines = fs.readFileSync(path(scenario, name), "utf8").trimEnd().split("\n");
    return Object.fromEntries(lines.map((line) => line.split(" ")));
}

export function open(scenario) {
    const curator = readIdentity(fs.readFileSync(path(scenario, "curator.pub"), "utf8"), "curator");
    const invitation = readInvitation(bytes(scenario, "invitation"), curator);
    const decision = readDecision(bytes(scenario, "decision"), invitation);
    const all = { curator, invitation, decision, facts: facts(scenario, "facts"), byJs: facts(scenario, "by-js") };
    all.rounds = { 1: roundOne(invitation), 2: roundTwo(invitation, decision) };
    all.levels = invitation.columns.map(({ codes }, c) => codes.indexOf(values[c]));
    all.secret = unhex(all.facts.participant);
    return all;
}

/** The bodies that the participant seals in a round, as record number `row`. */
export function bodies(all, number, row = 0) {
    const ticket = ticketOfRow(all.secret, row);
    const payload = all.invitation.terms.payload > 0 && row === 0 ? PAYLOAD : undefined;
    return number === 1 ? valueBodies(all.rounds[1], all.invitation, ticket, all.levels)
        : [rowBody(all.rounds[2], all.invitation, all.decision, ticket, all.levels, payload)];
}

export function seal(all, number) {
    return submission(all.rounds[number], ticketOfRow(all.secret, 0), bodies(all, number));
}

function openLayer(context, sealed, identity, secret) {
    const plain = sodium.crypto_box_seal_open(sealed, identity.box, secret);
    if (!same(plain.subarray(0, 16), context))
        throw new Error("of another round");
    return { id: plain.subarray(16, 32), content: plain.subarray(32) };
}

/** Ids of both layers and the body of every message, as hexadecimal digits. */
export function openSubmission(all, number, sealed) {
    const round = all.rounds[number];
    let text = "";
    for (let i = 0; i < round.nMessages; i++) {
        const begin = HEADER_BYTES + i * outerBytes(round);
        const outer = openLayer(round.outer, sealed.subarray(begin, begin + outerBytes(round)), round.shuffler,
            unhex(all.facts.shuffler));
        const inner = openLayer(round.inner, outer.content, round.recipient,
            unhex(all.facts[number === 1 ? "curator" : "analyst"]));
        text += hex(outer.id) + hex(inner.id) + hex(inner.content);
    }
    return text;
}
