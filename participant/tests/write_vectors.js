// SPDX-License-Identifier: GPL-3.0-or-later
// Completes new vectors with submissions sealed here:
//   CELLAR_WRITE_VECTORS=1 build/dev/tests/unit/test_collect_vectors; node participant/tests/write_vectors.js
import fs from "node:fs";
import { hex } from "../src/bytes.js";
import { open, path, scenarios, seal } from "./vectors.js";

for (const scenario of scenarios) {
    const all = open(scenario);
    fs.writeFileSync(path(scenario, "by-js"),
        [1, 2].map((number) => `by-js-${number} ${hex(seal(all, number))}\n`).join(""));
}
