// SPDX-License-Identifier: GPL-3.0-or-later
// A participant of `cellar collect` in a browser: docs/protocol.md says what it sends to whom.
//
//   const me = await Participant.create({ door, curator, policy });
//   await me.sendValues({ sex: "f", region: "north" });          // round one
//   const decision = await me.accept();                          // null: not yet
//   await me.sendRow({ sex: "f", region: "north" }, image);      // round two, if the policy agrees
import sodium from "libsodium-wrappers";
import { hex, Refusal, unhex } from "./bytes.js";
import { readDecision } from "./decision.js";
import { levelOf, readIdentity, readInvitation } from "./invitation.js";
import { roundOne, roundTwo, rowBody, submission, ticketOfRow, valueBodies } from "./messages.js";
import { checkDecision, checkInvitation } from "./policy.js";

export { Refusal } from "./bytes.js";

const SECRET = "cellar-collect-secret";

/** The participant's secret, made once: with it the same answers are counted once. */
function ownSecret(storage) {
    if (storage.getItem(SECRET) === null)
        storage.setItem(SECRET, hex(sodium.randombytes_buf(32)));
    const secret = storage.getItem(SECRET);
    if (!/^[0-9a-f]{64}$/.test(secret))
        throw new Refusal(`the participant's secret, '${SECRET}' in the storage of this page, is damaged`);
    return unhex(secret);
}

export class Participant {
    /** Fetches the invitation and checks it.
     * door     where `cellar-door` answers, such as "https://survey.example/collect"
     * curator  the curator's identity, the text of curator.pub, from a source that is trusted
     * policy   { leastK, mostExposure, leastPeople, mostEpsilon, mostTolerance, models, never }
     * storage  keeps the secret and what was accepted: localStorage, or something like it */
    static async create({ door, curator, policy, storage = globalThis.localStorage }) {
        const me = new Participant();
        me.door = door.replace(/\/$/, "");
        me.policy = policy ?? {};
        me.storage = storage;
        const invitation = await me.#fetchPaper("invitation");
        if (invitation === null)
            throw new Refusal("there is no invitation yet");
        me.invitation = readInvitation(invitation, readIdentity(curator, "curator"));
        return me;
    }

    /** Requests carry nothing but what they must: no cookies, no referrer, no other door. */
    async #request(path, options) {
        return fetch(`${this.door}/${path}`, { ...options, mode: "cors", credentials: "omit",
            cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" });
    }

    async #fetchPaper(name) {
        const answer = await this.#request(name);
        if (answer.status === 404)
            return null;
        if (!answer.ok)
            throw new Error(`the door answers ${answer.status} to a request for the ${name}`);
        return new Uint8Array(await answer.arrayBuffer());
    }

    async #post(round, bytes) {
        const answer = await this.#request(`round-${round.number}`, { method: "POST", body: bytes,
            headers: { "Content-Type": "application/octet-stream" } });
        if (!answer.ok)
            throw new Error(`the door refuses: ${(await answer.text()).trim()}`);
    }

    /** The numbers of the values on the lists of the invitation. */
    #levels(values) {
        return this.invitation.columns.map((column) => levelOf(column, values));
    }

    get #ticket() {
        return ticketOfRow(ownSecret(this.storage), 0);
    }

    /** Round one: every value in a message of its own. */
    async sendValues(values) {
        checkInvitation(this.policy, this.invitation);
        const round = roundOne(this.invitation);
        const bodies = valueBodies(round, this.invitation, this.#ticket, this.#levels(values));
        await this.#post(round, submission(round, this.#ticket, bodies));
    }

    /** The decision, its signature and words checked; null when it has not been published. */
    async decision() {
        const bytes = await this.#fetchPaper("decision");
        return bytes === null ? null : readDecision(bytes, this.invitation);
    }

    /** A curator that decides twice gets no second answer. */
    #remember(decision) {
        const name = `cellar-collect-${hex(this.invitation.session)}`;
        const before = this.storage.getItem(name);
        if (before !== null && before !== hex(decision.id))
            throw new Refusal("another decision was accepted before; a curator that asks twice gets no " +
                "second answer");
        this.storage.setItem(name, hex(decision.id));
    }

    /** The decision, checked, with which the policy agrees: the only one that is ever answered. null when it has
     * not been published. */
    async accept() {
        const decision = await this.decision();
        if (decision !== null) {
            checkDecision(this.policy, this.invitation, decision);
            this.#remember(decision);
        }
        return decision;
    }

    /** Round two: the released columns in one message, and a payload (Uint8Array) if the invitation asks for
     * one. Returns the names of the columns. */
    async sendRow(values, payload) {
        const levels = this.#levels(values);
        const decision = await this.accept();
        if (decision === null)
            throw new Refusal("the curator has not decided yet");
        const round = roundTwo(this.invitation, decision);
        const body = rowBody(round, this.invitation, decision, this.#ticket, levels, payload);
        await this.#post(round, submission(round, this.#ticket, [body]));
        return decision.columns.map(({ name }) => name);
    }
}
