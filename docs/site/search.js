/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds pages by the words in them: search-index.js, written by tools/docs, has a row for each page:
 * path, title, headings [[id, text], ...] and its other words. Nothing is asked of any server. */
"use strict";

const asked = (new URLSearchParams(location.search).get("q") || "").trim();
const words = asked.toLowerCase().split(/[^\p{L}\p{N}_-]+/u).filter(Boolean);

function begins(text, word) {
    return text.toLowerCase().split(/[^\p{L}\p{N}_-]+/u).some((other) => other.startsWith(word));
}

/* 0 when a word is nowhere on the page; words of the title and of headings count for more. */
function score([, title, headings, rest]) {
    let sum = 0;
    for (const word of words) {
        const own = begins(title, word) ? 20 : headings.some(([, text]) => begins(text, word)) ? 5 :
            rest.includes(" " + word) ? 1 : 0;
        if (own === 0) return 0;
        sum += own;
    }
    return sum;
}

function link(path, text) {
    const a = document.createElement("a");
    a.href = path;
    a.textContent = text;
    return a;
}

function show([path, title, headings]) {
    const item = document.createElement("li");
    const fitting = headings.filter(([, text]) => words.some((word) => begins(text, word))).slice(0, 4);
    item.append(link(path, title));
    fitting.forEach(([id, text], i) => item.append(i === 0 ? ": " : ", ", link(path + "#" + id, text)));
    return item;
}

const found = words.length === 0 ? [] : searchIndex.map((page) => [score(page), page])
    .filter(([points]) => points > 0).sort((a, b) => b[0] - a[0]).slice(0, 40);
document.querySelector("main h1").textContent = asked ? "Pages about \u201c" + asked + "\u201d" : "Search";
document.querySelector("input[type=search]").value = asked;
document.getElementById("found").append(...found.map(([, page]) => show(page)));
document.getElementById("number").textContent =
    words.length === 0 ? "" : found.length === 1 ? "1 page" : found.length + " pages";
