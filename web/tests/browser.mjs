// SPDX-License-Identifier: GPL-3.0-or-later
/* Debian's chromium, driven by playwright-core; axe-core and html-validate on what it shows. */
import { readFileSync, rmSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import { chromium } from 'playwright-core';

export const CHROMIUM = '/usr/bin/chromium';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

/** A browser with an empty profile; `close` removes it. */
export async function launch(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'cellar-browser-'));
  const context = await chromium.launchPersistentContext(profile, { executablePath: CHROMIUM, args: FLAGS, ...options });
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { context, page: context.pages()[0] ?? (await context.newPage()), close };
}

/** Waits until the page has what it asked for. */
export async function settle(page) {
  await page.waitForSelector('main h1, main .alert');
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null && document.querySelector('main > [role="status"]') === null);
}

/** Rules of WCAG 2.2 A and AA that the page breaks, with what breaks them. */
export async function axe(page) {
  await page.evaluate(AXE);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
  const result = await page.evaluate((values) => globalThis.axe.run(document, { runOnly: { type: 'tag', values }, resultTypes: ['violations'] }), tags);
  return result.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target.join(' ')} (${n.failureSummary?.split('\n').pop()?.trim()})`).join('; ')}`);
}

/** What html-validate says about a text, with its recommended rules. */
export async function validate(text) {
  const validator = new HtmlValidate({ extends: ['html-validate:recommended'], rules: { 'long-title': 'off', 'no-trailing-whitespace': 'off', 'void-style': 'off', 'doctype-style': 'off' } });
  const report = await validator.validateString(text);
  return report.results.flatMap((r) => r.messages.map((m) => `${m.line}:${m.column} ${m.ruleId}: ${m.message}`));
}
