// SPDX-License-Identifier: GPL-3.0-or-later
/* Pictures of the page for the documentation:  node web/tests/screenshots.mjs FOLDER [NAME...]  (make screenshots) */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, settle } from './browser.mjs';
import { Site } from './site.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = process.argv[2] ?? join(ROOT, 'docs/pictures');
mkdirSync(folder, { recursive: true });
const site = new Site(process.env.CELLAR ?? join(ROOT, 'build/dev/cellar'));
site.make(100000);
await site.start();

/** Opens an address, does something there, and takes a picture of what is seen. */
async function take(name, path, { width = 1180, height = 860, scheme = 'light', act = async () => {} } = {}) {
  if (process.argv.length > 3 && !process.argv.slice(3).includes(name)) return;
  const browser = await launch({ viewport: { width, height }, colorScheme: scheme });
  await browser.page.goto(site.url + path);
  await settle(browser.page);
  await act(browser.page);
  await browser.page.evaluate(() => document.activeElement?.blur());
  await browser.page.waitForTimeout(300);
  const file = join(folder, `${name}.png`);
  await browser.page.screenshot({ path: file });
  console.log(`${file}: ${Math.round(statSync(file).size / 1000)} kB`);
  await browser.close();
}

const regions = (more = '') => `/t/country?lang=en&valuecodes[region]=*&valuecodes[sex]=*&stub=region&heading=sex,ContentsCode${more}`;
await take('page-table', regions(), { height: 940 });
await take('page-bars', regions(), { height: 900, act: (page) => page.getByRole('button', { name: 'Bars' }).click() });
await take('page-compare', regions(), {
  height: 840,
  act: async (page) => {
    await page.locator('[data-cell="6,0"]').click();
    await page.locator('[data-cell="6,1"]').click();
    await page.getByRole('button', { name: 'Test it' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.verdict').length === 2);
    await page.evaluate(() => document.querySelector('.questions').scrollIntoView({ block: 'end' }));
  },
});
await take('page-refused', '/t/country?lang=en&valuecodes[region]=*&valuecodes[sex]=*&valuecodes[age]=*&valuecodes[occupation]=*&stub=region,sex&heading=age,occupation,ContentsCode');
await take('page-map', '/t/country?lang=en&valuecodes[region]=*&stub=region&heading=ContentsCode', { act: async (page) => {
  await page.getByRole('button', { name: 'Map' }).click();
  await page.waitForSelector('.map path');
  await page.evaluate(() => document.querySelector('.read').scrollIntoView());
} });
await take('page-phone', '/t/country?lang=sv&valuecodes[region]=*&valuecodes[sex]=*&stub=region&heading=sex,ContentsCode', { width: 390, height: 800, act: (page) => page.locator('.sheet').scrollIntoViewIfNeeded().then(() => page.evaluate(() => document.querySelector('.sheet').scrollIntoView())) });
await take('page-draw', '/t/register?lang=en&valuecodes[area]=*&codelist[area]=area^1&valuecodes[sex]=*&stub=area&heading=sex,ContentsCode', {
  act: async (page) => {
    await page.locator('#draw-token').fill(site.tokens.analyst);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('button', { name: 'Draw this table' }).click();
  },
});
for (const table of ['area^1*sex', 'sex*shift', 'area^1*shift', 'job*shift']) await site.draw(table);
await take('page-operator', '/operator?lang=en', {
  act: async (page) => {
    await page.locator('#operator-token').fill(site.tokens.auditor);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForSelector('.chart svg');
    await page.evaluate(() => document.getElementById('of-register').scrollIntoView());
  },
});
await site.remove();
