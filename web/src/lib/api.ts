// SPDX-License-Identifier: GPL-3.0-or-later
/* The server's public interface, and nothing else. */
import type { Figures, JsonStat } from './crosstab';
import type { Dataset } from './model';

/** What the server says when it does not answer: the rule, a sentence, and what to ask instead. */
export interface Refusal {
  status: number;
  detail: string;
  rule?: string;
  kind?: string | null;
  cost?: string;
  suggestions?: Suggestion[];
}

/** A table that would be answered, and what it costs where nobody has drawn it. */
export interface Suggestion {
  table: string;
  exists: boolean;
  draw: { cost: Cost | null } | null;
}

/** "rho 0.02" in parts: the amount is that which is charged. */
export interface Cost {
  currency: string;
  amount: string;
  text: string;
}

export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.detail);
  }
}

export interface SiteInfo {
  title: string;
  languages: string[];
  datasets: { id: string; title: string; kind: Dataset['kind']; updated: string | null; next_update: string | null }[];
}

/** How the agency looks: agency.json of the folder that `site.agency` names. A text is one, or one in each language. */
type Text = string | Record<string, string>;
export interface Agency {
  name?: Text;
  contact?: Text;
  logo?: string; // an address on this site
  accent?: string; // a colour, of buttons and links
  accent_dark?: string; // the same where the screen is dark
  boundaries?: Record<string, string>; // of a level: the address of a GeoJSON file on this site
}

/** A text in a language, or in the first that there is. */
export function textIn(text: Text | undefined, language: string): string | undefined {
  return text === undefined || typeof text === 'string' ? text : (text[language] ?? Object.values(text)[0]);
}

/** What is known about a table before it is asked for. */
export interface Preview {
  table: string;
  cells: number;
  allowed: boolean;
  refusal: { rule: string; kind: string | null; detail: string; suggestions: Suggestion[] } | null;
  /** What answers it now; `from` is a finer table when it is not exact. */
  answer: { exact: boolean; from: string; half_width95: number | null; certificate: string; guarantee: string; origin: string } | null;
  draw: { cost: Cost | null; half_width95?: number | null } | null;
}

interface Finding {
  estimate: number | null;
  low: number | null;
  high: number | null;
}

export interface Comparison {
  difference: Finding & { noise_alone: boolean };
  ratio: Finding & { undetermined: boolean };
}

export interface Independence {
  df: number;
  reference: string;
  reliable: boolean;
  aware: { statistic: number; p_value: number };
}

/** What is promised about all tables together; bounds from above. */
export interface Pledge {
  covers: 'cube' | 'pack' | 'budget';
  unit: string;
  neighbours: 'add-remove' | 'substitute';
  epsilon?: number;
  delta?: number;
  rho?: number;
}

export interface Statement {
  statement?: string;
  promise?: Pledge;
  note?: string; // why there is none, although something is proved
  budget?: { cap?: string; spent?: string; left?: string };
  wasted?: { n_charges: number; cost: string };
}

/** For the auditor. */
export interface History {
  days: { day: string; drawn: number; refused?: number; spent?: string; left?: string }[];
  refusals: Record<string, number>;
}
export interface AuditEntry {
  number: number;
  time: string;
  who?: string;
  dataset?: string;
  table?: string;
  decision: string;
  rule?: string;
  cost?: string;
}
export interface Health {
  status: string;
  version: string;
  datasets: number;
  vault: string;
}

export interface DefaultSelection {
  selection: { variableCode: string; codelist?: string | null; valueCodes: string[] }[];
  placement?: { heading: string[]; stub: string[] };
}

/** The token of this visit, if its owner typed one; it is kept nowhere. */
let token: string | null = null;
export function useToken(text: string | null): void {
  token = text;
}
export function hasToken(): boolean {
  return token !== null;
}

async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (init.body !== undefined) headers['Content-Type'] = 'application/json';
  if (token !== null) headers['Authorization'] = `Bearer ${token}`;
  let response = await fetch(path, { ...init, headers, credentials: 'omit' });
  for (let tries = 0; response.status === 429 && tries < 3; tries++) {
    const seconds = Number(response.headers.get('Retry-After') ?? '1'); // too many calls: wait as the server asks
    await new Promise((done) => setTimeout(done, 1000 * Math.min(10, Math.max(1, seconds))));
    response = await fetch(path, { ...init, headers, credentials: 'omit' });
  }
  const body: unknown = await response.json().catch(() => ({}));
  if (!response.ok) {
    const said = body as Partial<Omit<Refusal, 'suggestions'>> & { suggestions?: string[] };
    const suggestions = (said.suggestions ?? []).map((table) => ({ table, exists: false, draw: null }));
    throw new Refused({ ...said, suggestions, status: response.status, detail: said.detail ?? response.statusText });
  }
  return body as T;
}

function post(value: unknown): RequestInit {
  return { method: 'POST', body: JSON.stringify(value) };
}

export const getAgency = () => ask<Agency>('/agency.json').catch((): Agency => ({}));
export const getSite = (lang: string) => ask<SiteInfo>(`/v1/datasets?lang=${lang}`);
export const getDataset = (id: string, lang: string) =>
  ask<Dataset>(`/v1/datasets/${encodeURIComponent(id)}/variables?lang=${lang}`);
export const getPreview = (id: string, table: string) =>
  ask<Preview>(`/v1/tables/${encodeURIComponent(id)}/${encodeURIComponent(table)}`);
export const getStatement = (id: string) => ask<Statement>(`/v1/datasets/${encodeURIComponent(id)}/statement`);
export const getHealth = () => ask<Health>('/v1/health');
export const getHistory = (id: string) => ask<History>(`/v1/datasets/${encodeURIComponent(id)}/history`);
/** The last of the log: an answer has at most 500 entries. */
export async function getAudit(): Promise<{ entries: number; log: AuditEntry[] }> {
  const first = await ask<{ entries: number; log: AuditEntry[] }>('/v1/audit');
  return first.entries <= first.log.length ? first : ask('/v1/audit?from=' + (first.entries - 499));
}
export const getData = (id: string, query: URLSearchParams) =>
  ask<JsonStat>(`/api/v2/tables/${encodeURIComponent(id)}/data?${query}`);
/** Intervals of the same selection as data: of shares, or such that all hold together. */
export const getFigures = (id: string, query: URLSearchParams, share: 'row' | 'column' | 'total' | null, simultaneous: boolean) => {
  const asked = new URLSearchParams(query);
  if (share !== null) asked.set('share', share);
  asked.set('simultaneous', String(simultaneous));
  return ask<Figures>(`/v1/datasets/${encodeURIComponent(id)}/intervals?${asked}`);
};
export const getDefault = (id: string) =>
  ask<DefaultSelection>(`/api/v2/tables/${encodeURIComponent(id)}/defaultselection`);
export const draw = (dataset: string, table: string, max_cost: string) =>
  ask<{ state: string; charged: string | null }>('/v1/draws', post({ dataset, table, max_cost }));
export const compare = (dataset: string, first: Record<string, string[]>, second: Record<string, string[]>) =>
  ask<Comparison>('/v1/compare', post({ dataset, first, second }));
export const independence = (dataset: string, table: string) =>
  ask<Independence>('/v1/independence', post({ dataset, table }));

/** The address of a download. */
export function dataAddress(id: string, query: URLSearchParams, format: string): string {
  const asked = new URLSearchParams(query);
  asked.set('outputFormat', format);
  return `/api/v2/tables/${encodeURIComponent(id)}/data?${asked}`;
}
