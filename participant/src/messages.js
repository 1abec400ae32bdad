// SPDX-License-Identifier: GPL-3.0-or-later
// Messages: a few bytes in two envelopes, the outer for the shuffler, the inner for whom it forwards to. See
// src/protocol/message.c; vectors/ holds what both programs must agree on.
import sodium from "libsodium-wrappers";
import { concat, hash, label, Refusal, utf8, whole } from "./bytes.js";
import { redact, respond } from "./chance.js";

const VERSION = 1;
const LAYER_BYTES = 80; /* what an envelope adds: 48 of the seal, context, id */
const PAYLOAD_HEAD_BYTES = 4;
export const HEADER_BYTES = 44;

function makeRound(number, invitation, paper, nMessages, bodyBytes, recipient) {
    const id = hash(32, concat(label("cellar collect round"), whole(number, 1), invitation.session, paper));
    return {
        number, id, nMessages, bodyBytes,
        shuffler: invitation.shuffler,
        recipient,
        inner: hash(16, utf8("cellar collect inner 1"), id),
        outer: hash(16, utf8("cellar collect outer 1"), id),
    };
}

/** Round one: a message for every column. */
export function roundOne(invitation) {
    return makeRound(1, invitation, new Uint8Array(), invitation.columns.length, 8, invitation.curator);
}

/** Round two: one message with the released columns. */
export function roundTwo(invitation, decision) {
    const { payload } = invitation.terms;
    return makeRound(2, invitation, decision.id, 1,
        4 * decision.columns.length + (payload > 0 ? PAYLOAD_HEAD_BYTES + payload : 0), invitation.analyst);
}

export function outerBytes(round) {
    return round.bodyBytes + 2 * LAYER_BYTES;
}

/** The secret of row `row` of somebody's records: 0 for who has one. */
export function ticketOfRow(secret, row) {
    return hash(32, concat(label("cellar collect row"), whole(row, 8)), secret);
}

/** Sent again, a message has the same id and is counted once. */
export function messageId(context, ticket, index) {
    return hash(16, concat(context, whole(index, 8)), ticket);
}

function seal(round, ticket, index, body) {
    const inner = sodium.crypto_box_seal(
        concat(round.inner, messageId(round.inner, ticket, index), body), round.recipient.box);
    return sodium.crypto_box_seal(
        concat(round.outer, messageId(round.outer, ticket, index), inner), round.shuffler.box);
}

function header(round) {
    return concat(utf8("CSUB"), whole(VERSION, 1), whole(round.number, 1), whole(round.nMessages, 2),
        whole(outerBytes(round), 4), round.id);
}

/** Bodies of round one: a column and the number of its value, randomised if the invitation says so. */
export function valueBodies(round, invitation, ticket, levels) {
    return levels.map((level, column) => concat(whole(column, 4),
        whole(respond(invitation.terms.epsilon, invitation.columns[column].codes.length, round, ticket,
            column, level), 4)));
}

/** The length, the payload, zeros: everybody's is as long as the invitation says. */
function attachment(payload, most) {
    if (!(payload instanceof Uint8Array))
        throw new Refusal("a payload is a Uint8Array");
    if (payload.length > most)
        throw new Refusal(most === 0 ? "the invitation asks for no payload"
            : `the payload has ${payload.length} bytes; the invitation takes at most ${most}`);
    return most === 0 ? payload
        : concat(whole(payload.length, PAYLOAD_HEAD_BYTES), payload, new Uint8Array(most - payload.length));
}

/** The body of round two: the released columns, with what the decision asks to redact, and the payload. */
export function rowBody(round, invitation, decision, ticket, levels, payload = new Uint8Array()) {
    const row = decision.columns.map(({ position, redaction }) =>
        whole(redact(redaction, invitation.columns[position].codes.length, round, ticket, position,
            levels[position]), 4));
    return concat(...row, attachment(payload, invitation.terms.payload));
}

/** All messages of one participant in a round. */
export function submission(round, ticket, bodies) {
    return concat(header(round), ...bodies.map((body, index) => seal(round, ticket, index, body)));
}
