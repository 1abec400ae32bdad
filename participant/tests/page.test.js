// SPDX-License-Identifier: GPL-3.0-or-later
// The page of the documentation, as a person uses it: choose, press the button, come back after the decision.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage } from "./stage.js";

let stage;

before(() => {
    stage = new Stage();
    stage.invite({ sex: ["F", "M"], region: ["north", "south"] }, "--people", "30", "--k", "5", "--exposure", "0.05");
    stage.write("others.csv", "sex,region\n" + "F,north\nM,south\n".repeat(15));
    return stage.open();
});

after(() => stage.close());

/** What the page says when its button was pressed. */
async function press(page) {
    await page.selectOption("[name=region]", "south");
    await page.click("button");
    await page.waitForFunction(() => document.querySelector("[role=status]").textContent !== "");
    return page.textContent("[role=status]");
}

test("the page takes part in both rounds", async () => {
    const page = await stage.visit();
    assert.match(await press(page), /^Sent\. Come back/);
    assert.equal(stage.waiting(1), 1);
    stage.send("others.csv");
    stage.shuffle();
    stage.decide();
    await page.reload();
    assert.match(await press(page), /^Sent together: (sex|region)/);
    assert.equal(stage.waiting(2), 1);
});

test("at another origin it says why not", async () => {
    const page = await stage.visit(stage.evil);
    assert.match(await press(page), /^It did not work: /);
});
