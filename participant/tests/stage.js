// SPDX-License-Identifier: GPL-3.0-or-later
// A collection on this machine: the program cellar in its roles, a door, pages of two origins, Debian's chromium.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const BUILD = process.env.CELLAR_BUILD ?? fileURLToPath(new URL("../../build/dev", import.meta.url));
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const PAGE = fs.readFileSync(path.join(ROOT, "page.html"), "utf8");

/** Serves the files of the participant, its page at "/", with what `fill` makes of it, and curator.pub. */
async function servePages(fill, curator) {
    const server = http.createServer((request, answer) => {
        const file = path.join(ROOT, path.normalize(new URL(request.url, "http://x").pathname));
        if (request.url === "/") {
            answer.writeHead(200, { "Content-Type": "text/html" });
            answer.end(fill(PAGE));
        } else if (request.url === "/curator.pub") {
            answer.end(curator);
        } else if (/\.m?js$/.test(file) && fs.existsSync(file)) {
            answer.writeHead(200, { "Content-Type": "text/javascript" });
            answer.end(fs.readFileSync(file));
        } else {
            answer.writeHead(404);
            answer.end();
        }
    });
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

export class Stage {
    #ends = [];

    /** The folder with keys and identities of the roles. */
    constructor() {
        this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "cellar-participant-"));
        this.#ends.push(() => fs.rmSync(this.folder, { recursive: true, force: true }));
        fs.mkdirSync(this.file("spool"));
        for (const role of ["curator", "shuffler", "analyst"]) {
            this.cellar("key", "create", `${role}.key`);
            this.cellar("collect", role, "identity", "--key", `${role}.key`, "-o", `${role}.pub`);
        }
    }

    file(name) {
        return path.join(this.folder, name);
    }

    read(name) {
        return fs.readFileSync(this.file(name), "utf8");
    }

    write(name, text) {
        fs.writeFileSync(this.file(name), text);
    }

    /** Runs the program; throws when it fails. */
    cellar(...words) {
        return execFileSync(path.join(BUILD, "cellar"), words, { cwd: this.folder, encoding: "utf8",
            stdio: ["ignore", "pipe", "pipe"] });
    }

    /** Invites to columns { name: [codes] }. */
    invite(columns, ...words) {
        const domains = Object.entries(columns).flatMap(([name, codes]) => {
            this.write(`${name}.codes.csv`, ["code", ...codes].join("\n") + "\n");
            return ["--domain", `${name}=${name}.codes.csv`];
        });
        this.cellar("collect", "curator", "invite", "--spool", "spool", "--key", "curator.key", "--shuffler",
            "shuffler.pub", "--analyst", "analyst.pub", "--title", "A test", ...domains, ...words);
    }

    /** The records of a CSV file are sent by the participant in C. */
    send(file, ...policy) {
        if (!fs.existsSync(this.file("gateway.key")))
            this.cellar("key", "create", "gateway.key");
        this.cellar("collect", "participant", "send", file, "--spool", "spool", "--key", "gateway.key", "--curator",
            "curator.pub", ...policy);
    }

    shuffle() {
        this.cellar("collect", "shuffler", "run", "--spool", "spool", "--key", "shuffler.key", "--curator",
            "curator.pub");
    }

    decide() {
        this.cellar("collect", "curator", "decide", "--spool", "spool", "--key", "curator.key");
    }

    /** The analyst's table as lines, the counts last. */
    table(...words) {
        this.cellar("collect", "analyst", "table", "--spool", "spool", "--key", "analyst.key", "--curator",
            "curator.pub", "-o", "table.csv", ...words);
        return this.read("table.csv").trim().split("\n").slice(1).filter((line) => !line.endsWith(",0")).sort();
    }

    waiting(round) {
        return fs.readdirSync(this.file(`spool/inbox-${round}`)).length;
    }

    /** Opens the door for one origin; another has pages, too, and is not let in. */
    async open() {
        const fill = (html) => html.replace("http://127.0.0.1:8081", this.door).replace("leastPeople: 1000", "leastPeople: 2");
        const curator = this.read("curator.pub");
        const [good, evil] = [await servePages(fill, curator), await servePages(fill, curator)];
        this.#ends.push(() => good.server.close(), () => evil.server.close());
        Object.assign(this, { origin: good.origin, evil: evil.origin });
        const door = spawn(path.join(BUILD, "cellar"), ["collect", "door", "run", "--spool", "spool", "--curator",
            "curator.pub", "--listen", "127.0.0.1:0", "--origin", good.origin],
        { cwd: this.folder, stdio: ["ignore", "inherit", "pipe"] });
        this.#ends.push(() => door.kill("SIGTERM"));
        this.door = await new Promise((found, failed) => {
            let said = "";
            door.stderr.on("data", (data) => {
                said += data;
                const url = /answers at (\S+)\//.exec(said);
                if (url !== null)
                    found(url[1]);
            });
            door.on("exit", () => failed(new Error(`the door does not open: ${said}`)));
        });
    }

    /** A browser with an empty profile, at a page of the origin. */
    async visit(origin = this.origin) {
        const profile = fs.mkdtempSync(path.join(os.tmpdir(), "cellar-browser-"));
        const context = await chromium.launchPersistentContext(profile, { executablePath: "/usr/bin/chromium",
            args: FLAGS });
        this.#ends.unshift(async () => {
            await context.close();
            fs.rmSync(profile, { recursive: true, force: true });
        });
        const page = context.pages()[0] ?? await context.newPage();
        await page.goto(origin);
        return page;
    }

    async close() {
        for (const end of this.#ends)
            await end();
    }
}
