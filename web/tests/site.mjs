// SPDX-License-Identifier: GPL-3.0-or-later
/* A site to try the page on: the cube of the small country, and a register that is drawn from. */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const AREAS = 200;
const JOBS = 100; // areas by jobs: 20,000 cells

const REGISTER = `
  - id: register
    kind: budget
    title: {en: A register of jobs, sv: Ett yrkesregister}
    note: {en: 'Areas, jobs and people are made up.', sv: 'Områden, yrken och människor är påhittade.'}
    counted: {en: people, sv: människor}
    population: the register
    unit: person
    period: "2026"
    folder: ../register
    records:
      data: {file: ../vault/jobs.csv, edition: "2026"}
      unit: {name: person, column: id, max_records: 1}
      variables:
        - {name: area, codelist: ../codelists/area.csv, hierarchy: true}
        - {name: job, codelist: ../codelists/job.csv}
        - {name: sex, codelist: ../codelists/sex.csv}
        - {name: shift, codelist: ../codelists/shift.csv}
    variables:
      - name: area
        role: geo
        label: {en: area, sv: område}
        levels: [{en: Districts, sv: Distrikt}, {en: Areas, sv: Områden}]
      - {name: job, label: {en: job, sv: yrke}}
      - {name: sex, label: {en: sex, sv: kön}, labels: {F: {en: Female, sv: Kvinnor}, M: {en: Male, sv: Män}}}
      - {name: shift, label: {en: shift, sv: skift}}
    ledger: {file: ../vault/register.ledger, dataset: register}
    budget:
      cap: {rho: 1}
      neighbours: add-remove
      negatives: keep
      parameter_choice: advance
      classes: [{variables: 4, mechanism: "discrete-gaussian:sigma=5"}]
    rules:
      - {name: three at most, max_variables: 3}
      - {name: working hours, forbid: [shift, job], text: Hours of single jobs identify employers.}
`;

// A map of the small country: eight fields.
function boundaries() {
  const codes = ['Harbour', 'Plain', 'Hills', 'Lakes', 'Border', 'Sound', 'Skerries', 'Farholm'];
  const field = (i) => {
    const [x, y] = [15 + (i % 4) * 1.5 + (i > 4 ? 0.4 : 0), 60 - Math.floor(i / 4) * 0.8];
    return [[[x, y], [x + 1.3, y + 0.1], [x + 1.4, y + 0.6], [x + 0.6, y + 0.75], [x + 0.1, y + 0.5], [x, y]]];
  };
  const features = codes.map((code, i) => ({ type: 'Feature', properties: { code }, geometry: { type: 'Polygon', coordinates: field(i) } }));
  return JSON.stringify({ type: 'FeatureCollection', features });
}

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M3 29V11L16 3l13 8v18z" fill="#7a1f4b"/><path d="M9 24v-6m7 6V12m7 12v-9" stroke="#fff" stroke-width="3"/></svg>';

/** People in areas and jobs, by a generator with a fixed seed. */
function jobs(n) {
  let state = 12345;
  const next = (below) => (state = (state * 1103515245 + 12345) % 2147483648, Math.floor((state / 2147483648) * below));
  const rows = ['id,area,job,sex,shift'];
  for (let i = 0; i < n; i++) rows.push([i, `a${Math.min(next(AREAS), next(AREAS))}`, `j${Math.min(next(JOBS), next(JOBS))}`, 'FM'[next(2)], ['day', 'night'][next(2)]].join(','));
  return `${rows.join('\n')}\n`;
}

export class Site {
  constructor(cellar) {
    this.cellar = cellar;
    this.folder = mkdtempSync(join(tmpdir(), 'cellar-page-'));
    this.at = (...names) => join(this.folder, ...names);
    this.config = this.at('sites/small_country.yaml');
  }

  run(...words) {
    return execFileSync(this.cellar, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  }

  make(people) {
    process.umask(0o022);
    this.run('demo-data', this.folder, '--people', String(people));
    this.run('ledger', 'create', this.at('cube.ledger'), '--dataset', 'census', '--edition', '2026', '--unit', 'person', '--neighbours', 'add-remove',
      '--epsilon', '5', '--delta', '1e-6', '--population', String(people));
    this.run('cube', 'build', this.at('plans/small_country_cube.yaml'));
    for (const name of ['vault', 'front', 'register', 'look']) mkdirSync(this.at(name));
    writeFileSync(this.at('vault/jobs.csv'), jobs(6000));
    const lines = (n, line) => Array.from({ length: n }, (_, i) => line(i)).join('\n');
    writeFileSync(this.at('codelists/area.csv'), `code,label,parent,role\n_T,All,,total\n${lines(10, (i) => `d${i},District ${i + 1},_T,`)}\n${lines(AREAS, (i) => `a${i},Area ${i + 1},d${i % 10},`)}\n`);
    writeFileSync(this.at('codelists/job.csv'), `code,label\n${lines(JOBS, (i) => `j${i},Job ${i + 1}`)}\n`);
    writeFileSync(this.at('codelists/shift.csv'), 'code,label\nday,Day\nnight,Night\n');
    writeFileSync(this.at('look/regions.geojson'), boundaries());
    writeFileSync(this.at('look/logo.svg'), LOGO);
    writeFileSync(this.at('look/agency.json'), JSON.stringify({
      name: { en: 'Statistics of the small country', sv: 'Det lilla landets statistik' }, contact: 'tables@example.org', logo: '/logo.svg',
      accent: '#7a1f4b', accent_dark: '#f0a8c8', boundaries: { region: '/regions.geojson' },
    }));
    this.run('ledger', 'create', this.at('vault/register.ledger'), '--dataset', 'register', '--edition', '2026', '--unit', 'person', '--neighbours', 'add-remove',
      '--rho', '1', '--population', '6000');
    const more = 'site:\n  limits: {calls: 1000000, seconds: 1}\n  tokens: ../front/tokens\n  audit: ../front/audit\n  agency: ../look\n';
    writeFileSync(this.config, readFileSync(this.config, 'utf8').replace('site:\n', more) + REGISTER);
    const token = (role) => this.run('serve', 'token', 'create', this.at('front/tokens'), '--name', role, '--role', role);
    this.tokens = { analyst: token('analyst'), auditor: token('auditor') };
    return this;
  }

  /** Starts the server and waits for its address. */
  async start() {
    this.server = spawn(this.cellar, ['serve', this.config, '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    this.server.stderr.on('data', (text) => (said += text));
    const first = await Promise.race([
      new Promise((done) => createInterface(this.server.stdout).once('line', done)),
      new Promise((done) => this.server.once('exit', () => done(''))),
    ]);
    if (!first) throw new Error(`the server does not start: ${said}`);
    this.url = String(first).replace(/\/$/, '');
  }

  async stop() {
    if (this.server === undefined) return;
    const ended = new Promise((done) => this.server.once('exit', done));
    this.server.kill('SIGTERM');
    await ended;
    this.server = undefined;
  }

  async ask(path, token, body) {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const response = await fetch(this.url + path, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) });
    return response.json();
  }

  async draw(table) {
    return this.ask('/v1/draws', this.tokens.analyst, { dataset: 'register', table, max_cost: '1' });
  }

  async remove() {
    await this.stop();
    rmSync(this.folder, { recursive: true });
  }
}
