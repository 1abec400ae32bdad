// SPDX-License-Identifier: GPL-3.0-or-later
// What chance decides follows from the participant's secret: who is asked twice says the same. See
// src/protocol/response.c and redaction.c.
import { concat, hash, label, whole, word } from "./bytes.js";

const ALL = 1n << 64n;

/** 64 bytes that follow from ticket, round, message, value and turn. */
function words(round, ticket, index, level, turn) {
    return hash(64, concat(label("cellar collect response"), round.id, whole(index, 4), whole(level, 4),
        whole(turn, 8)), ticket);
}

/** The value that is sent instead of `level`: itself with the probability that epsilon allows, and else one
 * drawn uniformly. exp may differ in its last bit from C's; the margin 2^-48 keeps epsilon in any case. */
export function respond(epsilon, nValues, round, ticket, index, level) {
    if (epsilon === 0n)
        return level;
    const e = Math.expm1(Number(epsilon) / 1e18);
    const keep = BigInt(Math.floor(e / (e + nValues) * (1 - 2 ** -48) * 2 ** 64));
    const limit = ALL - ALL % BigInt(nValues);
    let bytes = words(round, ticket, index, level, 0);
    const isKept = word(bytes) < keep;
    for (let turn = 1; ; turn++) {
        for (let i = 1; i < 8; i++)
            if (word(bytes, 8 * i) < limit)
                return isKept ? level : Number(word(bytes, 8 * i) % BigInt(nValues));
        bytes = words(round, ticket, index, level, turn);
    }
}

/** The value, or `nValues` for redacted: by the rule, or under the cover of chance. */
export function redact(redaction, nValues, round, ticket, column, level) {
    if (redaction === null)
        return level;
    const chance = BigInt(Math.floor(Number(redaction.cover) / 1e18 * 2 ** 64 * (1 - 2 ** -50)));
    const drawn = word(words(round, ticket, column, 0, 0));
    return redaction.levels.has(level) || drawn < chance ? nValues : level;
}
