// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes: hexadecimal digits, whole numbers with the least byte first, texts.
import sodium from "libsodium-wrappers";

await sodium.ready;

const encoder = new TextEncoder();

/** Something that is refused, with a reason for the person in front of the page. */
export class Refusal extends Error {
    name = "Refusal";
}

export function utf8(text) {
    return encoder.encode(text);
}

/** A label as C holds it: with the zero at its end. */
export function label(text) {
    return utf8(text + "\0");
}

export function hex(bytes) {
    return sodium.to_hex(bytes);
}

export function unhex(digits) {
    return sodium.from_hex(digits);
}

export function concat(...parts) {
    const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

export function same(a, b) {
    return a.length === b.length && sodium.memcmp(a, b);
}

/** `n` bytes of a whole number, least first. */
export function whole(value, n) {
    const bytes = new Uint8Array(n);
    let left = BigInt(value);
    for (let i = 0; i < n; i++, left >>= 8n)
        bytes[i] = Number(left & 255n);
    return bytes;
}

/** The whole number in eight bytes, least first. */
export function word(bytes, at = 0) {
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(at, true);
}

/** BLAKE2b of `length` bytes, under a key if there is one. */
export function hash(length, input, key = null) {
    return sodium.crypto_generichash(length, input, key);
}
