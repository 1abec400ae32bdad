// SPDX-License-Identifier: GPL-3.0-or-later
/* The server's public interface, and nothing else. */
import type { JsonStat } from './crosstab';
import type { Dataset } from './model';

/** What the server says when it does not answer: the rule, a sentence, and what to ask instead. */
export interface Refusal {
  status: number;
  detail: string;
  rule?: string;
  cost?: string;
  suggestions?: string[];
}

export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.detail);
  }
}

export interface SiteInfo {
  title: string;
  languages: string[];
  theme?: { accent?: string; logo?: string; name?: string; contact?: string };
  datasets: { id: string; title: string; kind: Dataset['kind']; updated: string; note?: string | null }[];
}

/** What is known about a table before it is asked for. */
export interface Preview {
  table: string;
  cells: number;
  allowed: boolean;
  rule?: string | null;
  detail?: string | null;
  suggestions?: string[];
  exists: boolean;
  from?: string | null; // a finer table that it is added up from
  cost?: string | null;
  plus_minus?: number | null;
}

export interface Comparison {
  difference: { estimate: number; low: number; high: number };
  ratio: { estimate: number | null; low: number | null; high: number | null; is_undetermined: boolean };
  noise_alone: boolean;
  sentence: string;
}

export interface Independence {
  statistic: number;
  df: number;
  p_value: number;
  reference: string;
  sentence: string;
}

export interface Statement {
  statement: string;
  cap?: string | null;
  spent?: string | null;
  left?: string | null;
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
  const response = await fetch(path, { ...init, headers, credentials: 'omit' });
  const body: unknown = await response.json().catch(() => ({}));
  if (!response.ok) {
    const said = body as Partial<Refusal>;
    throw new Refused({ ...said, status: response.status, detail: said.detail ?? response.statusText });
  }
  return body as T;
}

function post(value: unknown): RequestInit {
  return { method: 'POST', body: JSON.stringify(value) };
}

export const getSite = (lang: string) => ask<SiteInfo>(`/v1/datasets?lang=${lang}`);
export const getDataset = (id: string, lang: string) =>
  ask<Dataset>(`/v1/datasets/${encodeURIComponent(id)}?lang=${lang}`);
export const getPreview = (id: string, table: string) =>
  ask<Preview>(`/v1/tables/${encodeURIComponent(id)}/${encodeURIComponent(table)}`);
export const getStatement = (id: string) => ask<Statement>(`/v1/datasets/${encodeURIComponent(id)}/statement`);
export const getData = (id: string, query: URLSearchParams) =>
  ask<JsonStat>(`/api/v2/tables/${encodeURIComponent(id)}/data?${query}`);
export const getDefault = (id: string) =>
  ask<{ selection: { variableCode: string; codelist?: string | null; valueCodes: string[] }[]; placement?: { heading: string[]; stub: string[] } }>(
    `/api/v2/tables/${encodeURIComponent(id)}/defaultselection`,
  );
export const draw = (dataset: string, table: string, max_cost: string) =>
  ask<{ table: string; cost: string }>('/v1/draws', post({ dataset, table, max_cost }));
export const compare = (dataset: string, a: Record<string, string[]>, b: Record<string, string[]>) =>
  ask<Comparison>('/v1/compare', post({ dataset, a, b }));
export const independence = (dataset: string, table: string) =>
  ask<Independence>('/v1/independence', post({ dataset, table }));

/** The address of a download. */
export function dataAddress(id: string, query: URLSearchParams, format: string): string {
  const asked = new URLSearchParams(query);
  asked.set('outputFormat', format);
  return `/api/v2/tables/${encodeURIComponent(id)}/data?${asked}`;
}
