// SPDX-License-Identifier: GPL-3.0-or-later
// The decision: which columns go to the analyst, signed by the curator. See src/protocol/decision.c, whose
// words these are: a decision says them all, or it is none.
import { hash, hex, Refusal, same } from "./bytes.js";
import { decimalText, Lines } from "./lines.js";

const FIXED =
    "at most the share 'bound' of these people is in groups of fewer than k with the same values";
const RANDOMISED = FIXED + ", unless a chance of 'delta' has come true";
const STATISTICAL =
    "of 'population' other people drawn likewise, at most the share 'bound' is expected in groups " +
    "of fewer than k with the same values, unless a chance of 'delta' has come true";
const ATTRIBUTES =
    "this bounds how few share a row, and no attribute disclosure: what a group has in common is " +
    "known of each of its members";
const NOT_PRIVATE = "this is not differential privacy";
const MARGINS =
    "the counts of single columns were known to the curator exactly, rare values included";
const RESPONSES =
    "each value was randomised by its sender before it was counted: round one is locally " +
    "differentially private with 'epsilon-value' and 'epsilon-record', round two is not";
const REDACTIONS =
    "whoever has a value after 'redact' says '(redacted)', and so does anybody else with chance " +
    "'cover': of a column's redactions at most the share 'hide' is expected to be no chance";
const INDEPENDENT =
    "if columns are independent but for the share 'tolerance' of people, at most the share 'bound' is " +
    "expected in groups of fewer than k with the same values; no more than 'worst' is if they are not";
const FITTED =
    "if columns hang together as among the people of the file 'model-file', fitted to the counts of single " +
    "columns, but for the share 'tolerance' of people, at most the share 'bound' is expected in groups of " +
    "fewer than k with the same values, unless a chance of 'delta' has come true in what the file shows; no " +
    "more than 'worst' is if they do not";
const CHECKED =
    "the analyst counts after round two, and uses no table in which more than the share 'exposure' is";
const PAYLOADS =
    "a payload of up to 'payload' bytes goes to the analyst with each row: nothing here bounds what " +
    "it shows, and one that shows its person makes the row theirs";

function modelLines({ kind, file, people, tolerance }) {
    const named = file === null ? [] : [`model-file ${hex(file)}`, `model-people ${people}`];
    return [`model ${kind}`, ...named, `tolerance ${decimalText(tolerance)}`];
}

/** What the decision repeats of the invitation. */
function termsText({ terms, columns }) {
    const lines = [`k ${terms.k}`, `exposure ${decimalText(terms.exposure)}`];
    if (terms.population > 0)
        lines.push(`population ${terms.population}`);
    if (terms.epsilon > 0n)
        lines.push(`epsilon-value ${decimalText(terms.epsilon)}`,
            `epsilon-record ${decimalText(terms.epsilon * BigInt(columns.length))}`);
    if (terms.hide > 0n)
        lines.push(`hide ${decimalText(terms.hide)}`);
    if (terms.model !== null)
        lines.push(...modelLines(terms.model));
    if (terms.payload > 0)
        lines.push(`payload ${terms.payload}`);
    if (terms.delta > 0n)
        lines.push(`delta ${decimalText(terms.delta)}`);
    return lines.join("\n") + "\n";
}

function notesText({ terms }) {
    const notes = terms.model !== null ? [terms.model.file === null ? INDEPENDENT : FITTED, CHECKED]
        : [terms.population > 0 ? STATISTICAL : terms.delta > 0n ? RANDOMISED : FIXED];
    notes.push(ATTRIBUTES);
    if (terms.hide > 0n)
        notes.push(REDACTIONS);
    if (terms.payload > 0)
        notes.push(PAYLOADS);
    notes.push(NOT_PRIVATE, terms.epsilon > 0n ? RESPONSES : MARGINS);
    return notes.map((note) => `note ${note}\n`).join("");
}

/** Which values of the column are redacted (by their numbers), and by what chance others are. */
function takeRedaction(lines, codes) {
    if (!lines.nextIs("redact"))
        return null;
    const levels = new Set();
    let next = 0;
    while (lines.nextIs("redact")) {
        const level = codes.indexOf(lines.take("redact"));
        if (level < next)
            lines.fail("values of the column above, in its order");
        levels.add(level);
        next = level + 1;
    }
    return { levels, cover: lines.takeDecimal("cover") };
}

function takeColumns(lines, invitation) {
    const released = [];
    let next = 0;
    const n = lines.takeNumber("columns");
    for (let i = 0; i < n; i++) {
        const name = lines.take("column");
        const position = invitation.columns.findIndex((column) => column.name === name);
        if (position < next)
            lines.fail("columns of the invitation above, in its order");
        next = position + 1;
        const { codes } = invitation.columns[position];
        released.push({ position, name, codes,
            redaction: invitation.terms.hide > 0n ? takeRedaction(lines, codes) : null });
    }
    return released;
}

/** Reads the decision about an invitation. */
export function readDecision(bytes, invitation) {
    const lines = new Lines("the decision", bytes, "cellar collect decision 1");
    lines.verify(invitation.curator.sign);
    if (!same(lines.takeHex("session", 32), invitation.session))
        throw new Refusal("the decision: is about another collection");
    const decision = { people: lines.takeNumber("people") };
    lines.expect(termsText(invitation), "the terms of the invitation, repeated");
    decision.bound = lines.takeDecimal("bound");
    if (invitation.terms.model !== null)
        decision.worst = lines.takeDecimal("worst");
    decision.theorem = lines.takeNumber("theorem");
    decision.columns = takeColumns(lines, invitation);
    if (decision.columns.length === 0 || invitation.terms.model !== null ? decision.theorem !== 0
        : ![2, 3].includes(decision.theorem))
        lines.fail("theorem 2 or 3 above, or no column, or a model");
    lines.expect(notesText(invitation), "the note on what exposure does not bound, word for word");
    lines.end();
    decision.id = hash(32, bytes);
    return decision;
}
