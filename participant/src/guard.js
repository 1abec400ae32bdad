// SPDX-License-Identifier: GPL-3.0-or-later
// Against browser fingerprinting (section 2.3 of the paper): a site asks a browser for some of its properties, and
// gets them when the curator's decision releases them together, and else nothing.
import { levelOf } from "./invitation.js";

const MOST_COLUMNS = 64; /* of an invitation: whoever asks for more only wants to keep the page busy */

/** What a browser says to sites that ask for its properties. All sites are held to the one set of columns that was
 * decided: sites that put together what each was given have no more than that set, whose exposure is bounded. */
export class Guard {
    #released; /* names and values */

    /** `decision` as Participant.accept() gave it; null: nothing was decided, everything is blocked. A column with
     * redactions is blocked: its bound is about redacted values. The values are those of the code lists that were
     * sent: of any others nothing is bounded, and they are refused. */
    constructor(decision, values) {
        const columns = (decision?.columns ?? []).filter(({ redaction }) => redaction === null);
        this.#released = new Map(columns.map((column) => [column.name, column.codes[levelOf(column, values)]]));
    }

    /** "allow" or "block" for all columns together. */
    decide(columns) {
        return columns.every((name) => this.#released.has(name)) ? "allow" : "block";
    }

    /** The values of the columns; null when they are blocked. */
    ask(columns) {
        return this.decide(columns) === "block" ? null
            : Object.fromEntries(columns.map((name) => [name, this.#released.get(name)]));
    }

    /** Answers every page that asks this window, postMessage({ ask: ["system", "language"] }), with
     * { columns, answer, values }. Which page it is makes no difference: what is allowed, all may have. */
    listen(window) {
        window.addEventListener("message", ({ data, source }) => {
            const columns = data?.ask;
            if (Array.isArray(columns) && columns.length <= MOST_COLUMNS &&
                [...columns].every((name) => typeof name === "string"))
                source?.postMessage({ columns, answer: this.decide(columns), values: this.ask(columns) }, "*");
        });
    }
}
