// SPDX-License-Identifier: GPL-3.0-or-later
// The invitation: what is asked of whom, signed by the curator. See src/protocol/invitation.c and terms.c.
import { hash, Refusal, same, utf8 } from "./bytes.js";
import { Lines, ONE } from "./lines.js";

const ROLES = ["curator", "shuffler", "analyst"];
const MOST_EPSILON = 16n * ONE;
const MOST_PAYLOAD = 1 << 20;
const MAX_COLUMNS = 64;
const MODELS = ["independence", "sample", "cube"];

function takeKeys(lines, prefix = "") {
    return {
        key: lines.takeHex(prefix + "key", 8),
        box: lines.takeHex(prefix + "box", 32),
        sign: lines.takeHex(prefix + "sign", 32),
    };
}

/** The public half of a role, from the file that `cellar collect ROLE identity` writes. */
export function readIdentity(text, role) {
    const lines = new Lines("the identity", utf8(text), "cellar collect identity 2", { isSigned: false });
    if (lines.take("role") !== role)
        throw new Refusal(`the identity is not that of a ${role}`);
    const identity = takeKeys(lines);
    lines.end();
    return identity;
}

function takeSetting(lines, terms) {
    const setting = lines.take("setting");
    if (setting === "fixed")
        return;
    if (setting !== "statistical")
        lines.fail("a setting above, fixed or statistical");
    terms.population = lines.takeNumber("population");
    if (terms.population < 2)
        lines.fail("a population of at least 2 above");
}

/** What this participant cannot do is declined as a whole, before anything is sent. */
function decline(lines) {
    if (lines.nextIs("tally"))
        throw new Refusal("the collection publishes a tally, which a participant must count again; " +
            "take part with the program cellar");
    if (lines.nextIs("order"))
        throw new Refusal("the collection asks for pairs of columns between the rounds; take part " +
            "with the program cellar");
}

/** What the decision rests on: independence, or a sample or a cube in a file with this hash. */
function takeModel(lines) {
    const model = { kind: lines.take("model"), file: null, people: 0 };
    if (!MODELS.includes(model.kind))
        lines.fail("the model 'independence', 'sample' or 'cube' above");
    if (model.kind !== "independence") {
        model.file = lines.takeHex("model-file", 32);
        model.people = lines.takeNumber("model-people");
        if (model.people < 1)
            lines.fail("a model of at least one person above");
    }
    model.tolerance = lines.takeDecimal("tolerance");
    return model;
}

function takeTerms(lines) {
    const terms = { population: 0, epsilon: 0n, hide: 0n, redacted: 0n, model: null, payload: 0,
        delta: 0n };
    terms.people = lines.takeNumber("people");
    terms.k = lines.takeNumber("k");
    terms.exposure = lines.takeDecimal("exposure");
    takeSetting(lines, terms);
    if (lines.nextIs("epsilon")) {
        terms.epsilon = lines.takeDecimal("epsilon", MOST_EPSILON);
        if (terms.epsilon === 0n)
            lines.fail("an epsilon that is not 0 above");
    }
    decline(lines);
    if (lines.nextIs("hide")) {
        terms.hide = lines.takeDecimal("hide");
        terms.redacted = lines.takeDecimal("redacted");
        if (terms.hide === 0n || terms.redacted === 0n)
            lines.fail("shares that are not 0 above");
    }
    decline(lines);
    if (lines.nextIs("model")) {
        terms.model = takeModel(lines);
        if (terms.model.tolerance >= ONE || terms.population > 0 || terms.epsilon > 0n || terms.hide > 0n)
            lines.fail("a tolerance below 1 above, in the fixed setting without epsilon or redactions");
    }
    if (lines.nextIs("payload")) {
        terms.payload = lines.takeNumber("payload");
        if (terms.payload < 1 || terms.payload > MOST_PAYLOAD)
            lines.fail("a payload of 1 to 1048576 bytes above");
    }
    if (terms.population > 0 || terms.epsilon > 0n || terms.hide > 0n || (terms.model?.file ?? null) !== null) {
        terms.delta = lines.takeDecimal("delta");
        if (terms.delta === 0n || terms.delta >= ONE)
            lines.fail("a delta between 0 and 1 above");
    }
    if (terms.people < 2 || terms.k < 1 || terms.k > (terms.population || terms.people))
        lines.fail("at least 2 people and a k of at least 1 above, not larger than their number");
    return terms;
}

function takeColumns(lines) {
    const columns = [];
    const n = lines.takeNumber("columns");
    if (n < 1 || n > MAX_COLUMNS)
        lines.fail("1 to 64 columns");
    for (let c = 0; c < n; c++) {
        const column = { name: lines.take("column"), codes: [] };
        const nCodes = lines.takeNumber("codes");
        for (let i = 0; i < nCodes; i++)
            column.codes.push(lines.take("code"));
        if (nCodes === 0 || new Set(column.codes).size !== nCodes ||
            columns.some((other) => other.name === column.name))
            lines.fail("columns of different names, each with codes that differ");
        columns.push(column);
    }
    return columns;
}

/** Reads an invitation. `curator` is the identity that it must be of: known from elsewhere, not from the
 * one who hands the invitation out. */
export function readInvitation(bytes, curator) {
    const lines = new Lines("the invitation", bytes, "cellar collect invitation 2");
    lines.verify(curator.sign);
    const invitation = { title: lines.take("title") };
    lines.takeHex("nonce", 32);
    invitation.terms = takeTerms(lines);
    for (const role of ROLES)
        invitation[role] = takeKeys(lines, role + "-");
    if (!["key", "box", "sign"].every((part) => same(invitation.curator[part], curator[part])))
        throw new Refusal("the invitation is of another curator");
    for (const [a, b] of [[0, 1], [0, 2], [1, 2]])
        if (same(invitation[ROLES[a]].key, invitation[ROLES[b]].key))
            throw new Refusal(`the ${ROLES[a]} and the ${ROLES[b]} use one key file; every role needs its own`);
    invitation.columns = takeColumns(lines);
    lines.end();
    invitation.session = hash(32, bytes);
    return invitation;
}

/** The number of the value of a column among its codes. */
export function levelOf({ name, codes }, values) {
    const level = codes.indexOf(values[name]);
    if (level < 0)
        throw new Refusal(`column '${name}': the value is not among the codes of the invitation`);
    return level;
}

/** What is bounded, and by what, of round one: the epsilon of all values of a record together. */
export function recordEpsilon(invitation) {
    const units = invitation.terms.epsilon * BigInt(invitation.columns.length); // whole, so that 3 times 0.1 is 0.3
    return units === 0n ? Infinity : Number(units) / 1e18;
}
