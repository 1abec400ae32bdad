// SPDX-License-Identifier: GPL-3.0-or-later
// Against browser fingerprinting (section 2.3 of the paper): a site asks a browser for some of its properties, and
// gets them when the curator's decision releases them together, and else nothing.

/** What a browser says to sites that ask for its properties. All sites are held to the one set of columns that was
 * decided: sites that put together what each was given have no more than that set, whose exposure is bounded. */
export class Guard {
    #released;
    #values;

    /** `decision` as readDecision() checked it; null: nothing was decided, everything is blocked. */
    constructor(decision, values) {
        this.#released = new Set(decision === null ? [] : decision.columns.map(({ name }) => name));
        this.#values = values;
    }

    /** "allow" or "block" for all columns together. */
    decide(columns) {
        return columns.every((name) => this.#released.has(name)) ? "allow" : "block";
    }

    /** The values of the columns; null when they are blocked. */
    ask(columns) {
        return this.decide(columns) === "block" ? null
            : Object.fromEntries(columns.map((name) => [name, this.#values[name]]));
    }
}
