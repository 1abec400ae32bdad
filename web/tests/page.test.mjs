// SPDX-License-Identifier: GPL-3.0-or-later
/* The page in a browser, against `cellar serve` on loopback:  node --test web/tests  (CELLAR names the program) */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { axe, launch, settle, validate } from './browser.mjs';
import { Site } from './site.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const PAGE = join(ROOT, 'build/web');
const site = new Site(process.env.CELLAR ?? join(ROOT, 'build/dev/cellar'));
let browser;
let page;
const outside = [];

before(async () => {
  site.make(3000);
  await site.start();
  browser = await launch({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] });
  page = browser.page;
  browser.context.on('request', (request) => {
    if (!request.url().startsWith('http://127.0.0.1:') && !request.url().startsWith('data:')) outside.push(request.url());
  });
});
after(async () => {
  await browser?.close();
  await site.remove();
});

async function open(path) {
  await page.goto(site.url + path);
  await settle(page);
}
async function clean(state) {
  const found = await axe(page);
  assert.deepEqual(found, [], `axe, ${state}`);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wider <= 0, `${state}: the page is ${wider} px wider than the window`);
}
/** Headings, values and intervals of the rows that are in the page. */
const shown = () => page.$$eval('.grid tbody tr:not([aria-hidden])', (rows) => rows.map((row) => ({
  name: row.querySelector('th').textContent.trim(),
  cells: [...row.querySelectorAll('.cell')].map((c) => ({ value: c.querySelector('.value').textContent, interval: c.querySelector('.interval')?.lastElementChild?.textContent ?? '' })),
})));
/** As the page rounds: never to minus zero. */
const rounded = (value) => Math.round(value) + 0;
const plainNumber = (text) => Number(text.replace(/[^\d.,−-]/g, '').replace(/[,\s]/g, '').replace('−', '-'));

test('the first view has at most 80 kB of compressed JavaScript, and names its files by content', () => {
  const files = readdirSync(join(PAGE, 'assets'));
  const first = readFileSync(join(PAGE, 'index.html'), 'utf8').match(/assets\/[^"]+\.js/g);
  const size = first.reduce((sum, name) => sum + gzipSync(readFileSync(join(PAGE, name))).length, 0);
  console.log(`JavaScript of the first view: ${(size / 1000).toFixed(1)} kB compressed; all files ${files.reduce((n, f) => n + statSync(join(PAGE, 'assets', f)).size, 0)} bytes`);
  assert.ok(size > 1000 && size <= 80000, `${size} bytes`);
  assert.ok(files.every((name) => /-[\w-]{8}\.\w+$/.test(name)), files.join());
});

test('both languages have the same texts with the same values in them', () => {
  const texts = ['en', 'sv'].map((language) => JSON.parse(readFileSync(join(ROOT, `web/src/texts/${language}.json`), 'utf8')));
  assert.deepEqual(Object.keys(texts[0]).sort(), Object.keys(texts[1]).sort());
  const values = (text) => [...text.matchAll(/\{\w+\}/g)].map((m) => m[0]).sort().join();
  for (const key of Object.keys(texts[0])) assert.equal(values(texts[0][key]), values(texts[1][key]), key);
  const sources = readdirSync(join(ROOT, 'web/src'), { recursive: true }).filter((f) => /\.(svelte|ts)$/.test(f)).map((f) => readFileSync(join(ROOT, 'web/src', f), 'utf8')).join('');
  for (const key of Object.keys(texts[0])) assert.ok(sources.includes(`'${key}'`), `nobody says '${key}'`);
});

test('a first table by keyboard alone, in at most eight actions from the start page', async () => {
  await open('/?lang=en');
  await clean('start');
  let actions = 0;
  const act = async (what) => { actions++; await what; };
  await act(page.keyboard.press('Tab')); // the skip link
  await act(page.keyboard.press('Enter')); // to the data sets
  await act(page.keyboard.press('Tab')); // the first of them
  await act(page.keyboard.press('Enter'));
  await settle(page);
  await page.waitForSelector('#search:focus');
  await act(page.keyboard.type('diag'));
  await act(page.keyboard.press('Enter'));
  await page.waitForFunction(() => document.querySelector('.sheet h2')?.textContent.includes('diagnosis'));
  await settle(page);
  console.log(`first table by keyboard: ${actions} actions`);
  assert.ok(actions <= 8);
  assert.ok((await shown()).length > 0);
  await clean('a table of three variables');
});

test('values and intervals are those of the server, also for a screen reader', async () => {
  await open('/t/country?lang=en&valuecodes[region]=*&valuecodes[sex]=*&stub=region&heading=sex,ContentsCode');
  const rows = await shown();
  const data = await site.ask('/api/v2/tables/country/data?valuecodes[region]=*&valuecodes[sex]=*&valuecodes[ContentsCode]=*&stub=region&heading=sex,ContentsCode');
  assert.deepEqual(data.id.slice(0, 3), ['region', 'sex', 'ContentsCode']);
  assert.equal(rows.length, 8);
  rows.forEach((row, r) => row.cells.forEach((cell, c) => {
    const [count, , low, high] = data.value.slice((r * 2 + c) * 4, (r * 2 + c) * 4 + 4);
    const [shownLow, shownHigh] = cell.interval.split(/–| to /).map(plainNumber);
    assert.equal(plainNumber(cell.value), rounded(count));
    assert.ok(shownLow <= low && low - shownLow < 1 && shownHigh >= high && shownHigh - high < 1, `${cell.interval} is not ${low} to ${high}`);
  }));
  const spoken = await page.locator('.cell').first().evaluate((e) => e.textContent);
  assert.match(spoken, /between .* and /);
});

test('without variables the page shows the total, not a cell of another table', async () => {
  await open('/t/country?lang=en&valuecodes[region]=*&stub=region&heading=ContentsCode');
  await page.getByRole('button', { name: 'Remove region' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.cell').length === 1);
  assert.ok(await page.locator('.sheet .title').evaluate((e) => e === document.activeElement), 'the focus is at the table');
  await settle(page);
  const total = await page.locator('.cell .value').textContent();
  assert.ok(Math.abs(plainNumber(total) - 3000) < 200, `${total} of 3,000 persons`);
  await page.reload(); // the address says so, too
  await settle(page);
  assert.equal(await page.locator('.cell').count(), 1);
  assert.equal(await page.locator('.cell .value').textContent(), total);
  await clean('the total');
});

test('sort, swap, percentages, intervals that hold together, bars, lines', async () => {
  await open('/t/country?lang=en&valuecodes[region]=*&valuecodes[sex]=*&stub=region&heading=sex,ContentsCode');
  const widths = async () => (await shown()).flatMap((r) => r.cells.map((c) => c.interval.split(/–| to /).map(plainNumber))).map(([low, high]) => high - low);
  const single = await widths();
  await page.getByRole('button', { name: 'Female' }).click();
  let values = (await shown()).map((r) => plainNumber(r.cells[0].value));
  assert.deepEqual(values, [...values].sort((a, b) => b - a));
  await page.getByRole('button', { name: 'Female' }).click();
  values = (await shown()).map((r) => plainNumber(r.cells[0].value));
  assert.deepEqual(values, [...values].sort((a, b) => a - b));
  await page.getByRole('button', { name: 'Female' }).click();

  await page.getByLabel('Intervals that hold together').check();
  await page.waitForSelector('.cell');
  (await widths()).forEach((w, i) => assert.ok(w > single[i], `${w} is not wider than ${single[i]}`));
  await page.getByLabel('Intervals that hold together').uncheck();

  for (const of of ['percent_row', 'percent_column', 'percent_total']) {
    await page.getByLabel('Show', { exact: true }).selectOption(of);
    await page.waitForSelector('.cell .interval');
    const found = (await shown()).map((r) => r.cells.map((c) => plainNumber(c.value)));
    const sums = of === 'percent_row' ? found.map((r) => r[0] + r[1]) : of === 'percent_column' ? [0, 1].map((k) => found.reduce((s, r) => s + r[k], 0)) : [found.flat().reduce((s, v) => s + v, 0)];
    for (const sum of sums) assert.ok(Math.abs(sum - 100) < 1, `${of}: ${sum}`);
    assert.match(await page.locator('.sheet h2').textContent(), /, per cent of all persons/);
    await clean(of);
  }
  await page.getByLabel('Show', { exact: true }).selectOption('values');
  for (const view of ['Bars', 'Lines']) {
    await page.getByRole('button', { name: view }).click();
    assert.equal(await page.locator('.chart .whisker').count(), 16);
    await clean(view);
  }
  await page.getByRole('button', { name: 'Table', exact: true }).click();
  await page.getByRole('button', { name: 'Swap rows and columns' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.grid tbody tr:not([aria-hidden])').length === 2);
});

test('levels, "all below", own groups, filters: rows and columns by button and by drag', async () => {
  await open('/t/country?lang=en&valuecodes[region]=*&stub=region&heading=ContentsCode');
  await page.locator('.choice summary').click();
  await page.getByLabel('Islands: all below').uncheck();
  await page.waitForFunction(() => document.querySelectorAll('.grid tbody tr:not([aria-hidden])').length === 5);
  assert.match(await page.locator('.sheet h2').textContent(), /by region \(5 of 8\)/);
  await clean('a tree of categories');
  await page.getByLabel('Put the selected together').fill('All of the mainland');
  await page.getByRole('button', { name: 'Put together' }).click();
  await page.waitForFunction(() => document.querySelector('.grid tbody')?.textContent.includes('All of the mainland'));
  await settle(page);
  const group = plainNumber((await shown()).find((r) => r.name === 'All of the mainland').cells[0].value);
  await page.getByLabel('Level').selectOption('region^1');
  await page.waitForFunction(() => document.querySelectorAll('.grid tbody tr:not([aria-hidden])').length === 2);
  await settle(page);
  assert.ok(Math.abs(plainNumber((await shown())[0].cells[0].value) - group) <= 1, 'a group is the sum of its parts, as the level above');
  await page.dragAndDrop('.variables button:has-text("age")', '.place[aria-label="Columns"]');
  await page.waitForFunction(() => document.querySelectorAll('.grid thead th').length === 7);
  await page.getByRole('button', { name: 'Move age to rows' }).click();
  await page.waitForSelector('[data-choice="age"]:focus');
  await page.waitForFunction(() => document.querySelectorAll('.grid thead th').length === 2);
  await page.getByRole('button', { name: 'Move age forward' }).click();
  await settle(page);
  await page.waitForFunction(() => document.querySelector('.grid tbody th .outer')?.textContent === 'up to 15');
  await page.locator('#search').fill('16–30');
  await page.locator('#search').press('Enter'); // a code with comma and bracket
  await page.waitForFunction(() => document.querySelectorAll('.grid tbody tr:not([aria-hidden])').length === 2);
});

test('could noise alone explain this? Two cells, and a test of independence', async () => {
  await open('/t/country?lang=en&valuecodes[region]=*&valuecodes[sex]=*&stub=region&heading=sex,ContentsCode');
  await page.locator('.cell').first().focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('[data-cell="0,1"]:focus');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.verdict');
  const asked = { dataset: 'country', first: { region: 'Harbour', sex: 'F' }, second: { region: 'Harbour', sex: 'M' } };
  const { difference } = await site.ask('/v1/compare', undefined, asked);
  assert.equal(await page.locator('.verdict').first().textContent(), difference.noise_alone ? 'Yes, noise alone could explain this difference.' : 'No, noise alone hardly explains this difference.');
  assert.ok((await page.locator('.pairs dd').first().textContent()).startsWith(rounded(difference.estimate).toLocaleString('en').replace('-', '−')));
  const [low, high] = (await page.locator('.pairs dd').first().textContent()).split('95 % interval:')[1].split(' to ').map(plainNumber);
  assert.ok(low <= difference.low && high >= difference.high, `${low} to ${high} is not around ${difference.low} to ${difference.high}`);
  await page.getByRole('button', { name: 'Test it' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.verdict').length === 2);
  assert.match(await page.locator('[data-whole]').textContent(), /whole table: region \(all 8\) × sex \(all 2\)/);
  const test = await site.ask('/v1/independence', undefined, { dataset: 'country', table: 'region*sex' });
  const said = await page.locator('section[aria-labelledby="independent"]').textContent();
  assert.equal(said.includes('degrees of freedom'), test.reference !== 'bootstrap');
  if (test.reference === 'bootstrap') assert.ok(said.includes(test.aware.p_value <= 0.005 ? 'p ≤ 0.005' : `p = ${test.aware.p_value.toFixed(3)}`), said);
  await clean('two cells compared, independence tested');
});

test('a table of the budget: the cost shown is the cost charged, after a question', async () => {
  await open('/t/register?lang=en&valuecodes[sex]=*&valuecodes[shift]=*&stub=sex&heading=shift,ContentsCode');
  await page.waitForSelector('.undrawn');
  await page.waitForSelector('.promise .cap'); // what is promised stands there before anything is drawn
  await clean('a table that is not drawn yet');
  const cost = (await page.locator('[data-cost]').textContent()).trim();
  const spent = async () => Number((await site.ask('/v1/datasets/register/statement')).budget.spent.match(/[\d.e-]+/)[0]);
  const begin = await spent();
  await page.locator('#draw-token').fill(site.tokens.auditor); // may look, not draw
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('button', { name: 'Draw this table' }).click();
  await page.getByRole('button', { name: 'Draw and publish' }).click();
  assert.match(await page.locator('#draw-wrong').textContent(), /role/);
  assert.equal(await spent(), begin);
  await clean('a token that does not draw');
  await page.locator('#draw-token').fill(site.tokens.analyst);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('button', { name: 'Draw this table' }).click();
  await page.waitForSelector('dialog[open]');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Cancel');
  assert.match(await page.locator('dialog').textContent(), /public.*cannot be undone/s);
  assert.ok((await page.locator('dialog').textContent()).includes(cost));
  await clean('the question before a draw');
  await page.getByRole('button', { name: 'Draw and publish' }).click();
  await page.waitForSelector('.sheet .title:focus'); // the button is gone: the keyboard goes on at the table
  const charged = (await spent()) - begin;
  const amount = Number(cost.match(/[\d.e-]+/)[0]);
  console.log(`cost shown: ${cost}; charged: ${charged}`);
  assert.ok(amount > 0 && Math.abs(charged - amount) <= 1e-9 * amount, `${charged} was charged, ${cost} shown`);
  assert.equal((await shown()).length, 2);
});

test('a refusal says the rule plainly, and its alternative is one click away', async () => {
  await site.draw('area^1*sex');
  await open('/t/register?lang=en&valuecodes[job]=*&valuecodes[shift]=*&stub=job&heading=shift,ContentsCode');
  const alert = page.locator('.alert[role="alert"]');
  assert.match(await alert.textContent(), /not published together[\s\S]*identify employers/);
  assert.match(await page.locator('.before').textContent(), /not allowed/);
  await clean('a refusal');
  assert.match(await page.locator('.instead button').first().textContent(), / (ρ 0\.02|published)/);
  await open('/t/country?lang=en&valuecodes[region]=*&valuecodes[sex]=*&valuecodes[age]=*&valuecodes[occupation]=*&stub=region,sex&heading=age,occupation,ContentsCode');
  await page.locator('.instead button').first().click();
  await page.waitForSelector('.cell');
  assert.equal(await page.locator('.alert').count(), 0);
});

test('the joint promise comes first, in the language of the page, and bounds what is proved', async () => {
  for (const [id, lang, begins] of [['country', 'en', 'All tables of these data'], ['country', 'sv', 'Alla tabeller ur dessa data'], ['register', 'sv', 'Alla tabeller som någonsin dras']]) {
    await open(`/t/${id}?lang=${lang}&valuecodes[sex]=*&stub=sex&heading=ContentsCode`);
    const said = (await page.locator('.promise .cap').textContent()).replace(/(\d),(\d)/g, '$1.$2');
    const { promise } = await site.ask(`/v1/datasets/${id}/statement`);
    const amount = (letter) => Number(new RegExp(`${letter}\\s[≤=]\\s(\\d+(?:[.]\\d+)?)`).exec(said)?.[1]);
    assert.ok(said.startsWith(begins), said);
    const epsilon = promise.epsilon ?? promise.rho + 2 * Math.sqrt(promise.rho * Math.log(1 / amount('δ')));
    assert.ok(amount('ε') >= epsilon && amount('ε') < 1.01 * epsilon, `${said}: ${epsilon}`);
    assert.ok(amount('ρ') >= promise.rho && amount('ρ') < 1.01 * promise.rho, said);
  }
});

test('who is lost is told so by the page', async () => {
  for (const path of ['/t/nosuch', '/nothing']) {
    assert.equal((await fetch(site.url + path, { headers: { Accept: 'text/html' } })).status, 404);
    await page.goto(`${site.url}${path}?lang=sv`);
    await page.waitForSelector('main .alert');
    assert.match(await page.locator('main').textContent(), /Det finns inget på den här adressen/);
    await clean(path);
  }
});

test("the agency's name, colour, logo, contact and map come from its configuration", async () => {
  await open('/t/country?lang=sv&valuecodes[region]=*&valuecodes[sex]=*&stub=region&heading=sex,ContentsCode');
  assert.equal((await page.locator('.brand').textContent()).trim(), 'Det lilla landets statistik');
  assert.ok(await page.locator('.brand img').evaluate((e) => e.naturalWidth > 0));
  assert.ok((await page.locator('footer').textContent()).includes('tables@example.org'));
  assert.equal(await page.locator('.button.main').first().evaluate((e) => getComputedStyle(e).backgroundColor), 'rgb(122, 31, 75)');
  await page.getByRole('button', { name: 'Karta' }).click();
  await page.waitForSelector('.map path');
  assert.equal(await page.locator('.map path').count(), 8);
  assert.match(await page.locator('.map path title').first().textContent(), /^Hamnen med förorter: [\d\s]+ \(/);
  await page.locator('.map path').nth(7).hover();
  assert.match(await page.locator('.map p.pointed').textContent(), /^Farholm: −?[\d\s]+ \(/);
  await clean('a map');
});

test('the operator sees the budget, tables, refusals and health, with a token of the auditor', async () => {
  await site.ask('/v1/draws', site.tokens.analyst, { dataset: 'register', table: 'job*shift', max_cost: '1' }); // is refused
  await open('/operator?lang=en');
  await page.locator('#operator-token').fill(site.tokens.analyst);
  await page.getByRole('button', { name: 'Show' }).click();
  await page.waitForSelector('.alert');
  await page.locator('#operator-token').fill(site.tokens.auditor);
  await page.getByRole('button', { name: 'Show' }).click();
  await page.waitForSelector('.chart svg');
  const text = await page.locator('main').textContent();
  const { budget } = await site.ask('/v1/datasets/register/statement');
  for (const word of [budget.spent.replace('rho', 'ρ'), budget.left.replace('rho', 'ρ'), 'sex*shift', 'working hours', 'answers']) assert.ok(text.includes(word), `${word} is not in the operator's view`);
  await clean('the operator');
});

test('20,000 cells scroll, with few of them in the page', async () => {
  await site.draw('area*job');
  await open('/t/register?lang=en&valuecodes[area]=*&valuecodes[job]=*&stub=area&heading=job,ContentsCode');
  const count = () => page.locator('.cell').count();
  assert.ok((await count()) < 1500, `${await count()} cells in the page`);
  assert.equal(await page.locator('.grid table').getAttribute('aria-rowcount'), '201');
  assert.match(await page.locator('.sight').textContent(), /^Rows 1–1\d of 200, columns 1–\d+ of 100$/);
  await clean('20,000 cells');
  const longest = await page.evaluate(async () => {
    const box = document.querySelector('.grid');
    let worst = 0;
    for (let i = 0; i < 40; i++) {
      const began = performance.now();
      box.scrollTop += 240;
      box.scrollLeft += 200;
      await new Promise(requestAnimationFrame);
      worst = Math.max(worst, performance.now() - began);
    }
    return worst;
  });
  console.log(`20,000 cells: ${await count()} in the page, slowest of 40 steps of scrolling ${longest.toFixed(0)} ms`);
  assert.ok((await count()) < 1500);
  assert.ok((await page.locator('.grid').evaluate((e) => e.scrollTop)) > 8000);
  await page.locator('.grid').evaluate((e) => (e.scrollTop = e.scrollHeight));
  await page.waitForFunction(() => document.querySelector('.grid tbody')?.textContent.includes('Area 200'));
  await page.waitForFunction(() => / of 200, /.test(document.querySelector('.sight').textContent) && document.querySelector('.sight').textContent.includes('–200 of 200'));
});

test('files open with the values shown; R, Python and curl run as printed', async () => {
  await open('/t/country?lang=en&valuecodes[region]=*&valuecodes[sex]=*&stub=region&heading=sex,ContentsCode');
  const rows = await shown();
  const take = async (name) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name, exact: true }).click()]);
    const path = site.at(download.suggestedFilename());
    await download.saveAs(path);
    return path;
  };
  const python = (code, ...words) => execFileSync('/usr/bin/python3', ['-c', code, ...words], { encoding: 'utf8' });
  const read = `import json, sys, openpyxl\nrows = list(openpyxl.load_workbook(sys.argv[1]).active.iter_rows(values_only=True))\nprint(json.dumps([r for r in rows if isinstance(r[1], (int, float))]))`;
  const inExcel = JSON.parse(python(read, await take('Download Excel')));
  assert.equal(inExcel.length, 8);
  inExcel.forEach((row, r) => [0, 1].forEach((c) => assert.equal(rounded(row[1 + 4 * c]), plainNumber(rows[r].cells[c].value), rows[r].name)));
  assert.ok((await take('JSON-stat')).endsWith('country-region-sex.json'));
  for (const name of ['CSV', 'px', 'JSON-stat', 'SDMX']) assert.ok(statSync(await take(name)).size > 400, name);

  await page.locator('.same summary').click();
  await clean('code and citation');
  assert.match(await page.locator('[data-citation]').textContent(), /A made-up census.*certificate [0-9a-f]{32}/is);
  const code = (name) => page.locator(`[data-code="${name}"]`).textContent();
  const first = (csv) => csv.split('\n')[1].split(',').slice(0, 2);
  execFileSync('sh', ['-c', await code('curl')], { cwd: site.folder, stdio: 'ignore' });
  const byCurl = first(readFileSync(site.at('table.csv'), 'utf8'));
  assert.equal(rounded(Number(byCurl[1])), plainNumber(rows[0].cells[0].value));
  assert.deepEqual(python(`${await code('Python')}\nprint()\nprint(','.join(list(rows[0].values())[:2]))`).split('\n')[1].split(','), byCurl);
  try {
    execFileSync('Rscript', ['--version'], { stdio: 'ignore' });
  } catch {
    console.log('no Rscript here: the line for R was not run');
    return;
  }
  writeFileSync(site.at('as_printed.R'), `${await code('R')}\ncat(d[1, 2])\n`);
  assert.equal(rounded(Number(execFileSync('Rscript', [site.at('as_printed.R')], { encoding: 'utf8' }))), rounded(Number(byCurl[1])));
});

test('a link gives the same numbers after a restart, and without scripts', async () => {
  await open('/t/register?lang=en&valuecodes[area]=*&codelist[area]=area^1&valuecodes[sex]=*&stub=area&heading=sex,ContentsCode');
  const rows = await shown();
  await page.getByRole('button', { name: 'Copy link' }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined })); // as on plain http
  await page.getByRole('button', { name: /Cop(y link|ied)/ }).click();
  assert.equal(await page.locator('input.link').evaluate((e) => e.value.slice(e.selectionStart, e.selectionEnd)), link);
  await site.stop();
  await site.start();
  const again = site.url + new URL(link).pathname + new URL(link).search;
  await page.goto(again);
  await settle(page);
  assert.deepEqual(await shown(), rows);

  const quiet = await launch({ javaScriptEnabled: false, viewport: { width: 768, height: 900 } });
  await quiet.page.goto(again);
  const cells = await quiet.page.$$eval('tbody tr', (all) => all.map((tr) => [...tr.children].map((c) => c.textContent.trim())));
  assert.equal(cells.length, rows.length);
  cells.forEach((row, r) => assert.equal(rounded(plainNumber(row[1].split('\n')[0])), plainNumber(rows[r].cells[0].value)));
  assert.ok((await quiet.page.locator('a[href*="outputFormat=xlsx"]').count()) === 1, 'a download without scripts');
  assert.equal(await quiet.page.title(), 'A register of jobs');
  await quiet.page.goto(`${site.url}/?lang=sv`);
  assert.equal(await quiet.page.locator('main a').count(), 2, 'the start without scripts has the data sets');
  assert.equal(await quiet.page.locator('html').getAttribute('lang'), 'sv');
  const html = await (await fetch(again)).text();
  assert.deepEqual(await validate(html), []);
  await quiet.close();
});

test('pages are valid HTML', async () => {
  const get = async (path) => (await fetch(site.url + path)).text();
  const asked = 'valuecodes[region]=*&valuecodes[sex]=*&valuecodes[age]=*';
  for (const path of ['/', `/t/country?${asked}&stub=region,sex&heading=age,ContentsCode`, '/t/country?valuecodes[sex]=Q', `/api/v2/tables/country/data?${asked}&outputFormat=html`])
    assert.deepEqual(await validate(await get(path)), [], path);
  await open('/t/country?lang=en');
  assert.deepEqual((await validate(`<!doctype html>${await page.evaluate(() => document.documentElement.outerHTML)}`)).filter((m) => !/no-inline-style|attribute-boolean-style|attr-quotes|prefer-native-element|attribute-empty-style/.test(m)), [], 'as scripts made it');
});

test('two languages, three widths, by day and by night', async () => {
  const title = {};
  for (const [lang, width, colorScheme] of [['en', 360, 'light'], ['sv', 360, 'dark'], ['sv', 768, 'light'], ['en', 768, 'dark'], ['sv', 1440, 'light'], ['en', 1440, 'dark']]) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await open(`/t/country?lang=${lang}&valuecodes[region]=*&valuecodes[occupation]=*&stub=region&heading=occupation,ContentsCode`);
    title[lang] = await page.locator('.sheet h2').textContent();
    if (width < 900) { // building is folded above the table
      assert.equal(await page.locator('#search').isVisible(), false);
      await page.locator('details.build > summary').click();
      assert.equal(await page.locator('#search').isVisible(), true);
    }
    assert.equal(await page.evaluate(() => document.documentElement.lang), lang);
    await clean(`${lang}, ${width} px, ${colorScheme}`);
  }
  assert.equal(title.en, 'Persons by region and occupation, 2026');
  assert.equal(title.sv, 'Personer efter region och yrke, 2026');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
});

test('the first table on a phone', async () => {
  const phone = await launch({ viewport: { width: 390, height: 760 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true });
  const session = await phone.context.newCDPSession(phone.page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const times = [];
  for (let i = 0; i < 3; i++) {
    await phone.page.goto('about:blank');
    const began = Date.now();
    await phone.page.goto(`${site.url}/t/country?lang=en`);
    await phone.page.waitForSelector('.cell');
    times.push(Date.now() - began);
  }
  console.log(`first table on a phone (processor 4 times slower): ${times.join(', ')} ms`);
  await phone.close();
});

test('nothing was asked of anybody else, and there is no cookie', async () => {
  assert.deepEqual(outside, []);
  assert.deepEqual(await browser.context.cookies(), []);
});
