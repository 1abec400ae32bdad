// SPDX-License-Identifier: GPL-3.0-or-later
// The signed papers of a collection: lines "name value" in a fixed order, the last of them a signature
// over all before it. Read as strictly as src/protocol/lines.c does: one text for one meaning.
import sodium from "libsodium-wrappers";
import { Refusal, unhex, utf8 } from "./bytes.js";

const SIGNATURE = /^signature ([0-9a-f]{128})\n$/;
const SIGNATURE_LENGTH = 139;
const VALUE_MAX = 200;
/** Decimals are held in units of 10^-18. */
export const ONE = 10n ** 18n;

function isValue(value) {
    const length = utf8(value).length;
    return length >= 1 && length <= VALUE_MAX && !/[\x00-\x1f\x7f]|^ | $/.test(value);
}

/** Units of 10^-18 of a decimal in its shortest form; null: it is none. */
export function decimalUnits(text) {
    const found = /^(0|[1-9][0-9]*)(?:\.([0-9]{0,17}[1-9]))?$/.exec(text);
    return found === null ? null : BigInt(found[1]) * ONE + BigInt((found[2] ?? "").padEnd(18, "0"));
}

/** The shortest decimal of so many units. */
export function decimalText(units) {
    const part = (units % ONE).toString().padStart(18, "0").replace(/0+$/, "");
    return (units / ONE).toString() + (part === "" ? "" : "." + part);
}

export class Lines {
    /** `bytes` of the paper `name`, whose first line must be `header`; a paper that is not signed ends
     * without a signature. */
    constructor(name, bytes, header, { isSigned = true } = {}) {
        this.name = name;
        this.bytes = bytes;
        this.signedLength = isSigned ? Math.max(bytes.length - SIGNATURE_LENGTH, 0) : bytes.length;
        const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
        try {
            this.text = text.decode(bytes.subarray(0, this.signedLength));
            this.tail = text.decode(bytes.subarray(this.signedLength));
        } catch {
            throw new Refusal(`${name}: is no text in UTF-8`);
        }
        this.at = 0;
        this.line = 1;
        this.expect(header + "\n", `the line '${header}'`);
    }

    fail(what) {
        throw new Refusal(`${this.name}:${this.line}: expected ${what}`);
    }

    /** Refuses a paper that does not end with a signature of `signer` over all before it. */
    verify(signer) {
        const found = SIGNATURE.exec(this.tail);
        if (found === null)
            throw new Refusal(`${this.name}: the signature is missing`);
        if (!sodium.crypto_sign_verify_detached(unhex(found[1]), this.bytes.subarray(0, this.signedLength),
            signer))
            throw new Refusal(`${this.name}: the signature is not that of the one who should have signed`);
    }

    nextIs(name) {
        return this.text.startsWith(name + " ", this.at);
    }

    /** The value of the next line, which must be of that name. */
    take(name) {
        if (!this.nextIs(name))
            this.fail(name);
        const begin = this.at + name.length + 1;
        const end = this.text.indexOf("\n", begin);
        if (end < 0)
            this.fail("a whole line");
        const value = this.text.slice(begin, end);
        if (!isValue(value))
            this.fail("1 to 200 bytes of UTF-8 without control characters");
        this.at = end + 1;
        this.line++;
        return value;
    }

    takeNumber(name) {
        const value = this.take(name);
        if (!/^(0|[1-9][0-9]{0,15})$/.test(value) || !Number.isSafeInteger(Number(value)))
            this.fail(`a whole number for ${name} above`);
        return Number(value);
    }

    /** A decimal from 0 to `most`, in units of 10^-18. */
    takeDecimal(name, most = ONE) {
        const units = decimalUnits(this.take(name));
        if (units === null || units > most)
            this.fail(`a decimal for ${name} above, in its shortest form`);
        return units;
    }

    takeHex(name, n) {
        const value = this.take(name);
        if (value.length !== 2 * n || !/^[0-9a-f]*$/.test(value))
            this.fail(`hexadecimal digits for ${name} above, as many as the key has`);
        return unhex(value);
    }

    /** Whole lines that must read exactly so. */
    expect(text, what) {
        if (!this.text.startsWith(text, this.at))
            this.fail(what);
        this.at += text.length;
        this.line += text.split("\n").length - 1;
    }

    end() {
        if (this.at !== this.text.length)
            this.fail("the end of the file");
    }
}
