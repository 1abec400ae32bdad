// SPDX-License-Identifier: GPL-3.0-or-later
/* The address of a table: the same words in which PxWeb clients ask, so that the page, a client and a
 * browser without scripts read one link alike. */
import type { DefaultSelection } from './api';
import { findVariable, finest, type Choice, type Dataset, type Group } from './model';

/** A code as it stands in an address: in quotes when it has more than letters, digits and a few signs. */
const written = (code: string) => (code === '*' || /^[\p{L}\p{N} _.:-]+$/u.test(code) ? code : `"${code}"`);
const listed = (codes: string[]) => codes.map(written).join(',');

/** What commas part, outside of quotes and brackets. */
function unlisted(text: string): string[] {
  const parts = [''];
  let isQuoted = false;
  let depth = 0;
  for (const sign of text) {
    if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && '[('.includes(sign)) depth++;
    else if (!isQuoted && '])'.includes(sign)) depth--;
    if (sign === ',' && !isQuoted && depth === 0) parts.push('');
    else parts[parts.length - 1] += sign;
  }
  return parts.filter((part) => part !== '');
}
const unquoted = (word: string) => word.replace(/^"(.*)"$/, '$1');

/** "*", or codes, and groups as the interface writes them: group(NAME,a,b). */
function expressions(choice: Choice): string {
  const codes = choice.codes === null ? ['*'] : choice.codes.length > 0 ? [listed(choice.codes)] : [];
  return [...codes, ...choice.groups.map((g) => `[group(${listed([g.label, ...g.codes])})]`)].join(',');
}

/** The way back; what the level does not have is left out. */
function chosen(text: string, known: Set<string>): { codes: string[] | null; groups: Group[] } {
  const parts = unlisted(text);
  const groups = parts.flatMap((part): Group[] => {
    const words = unlisted(/^\[?group\((.*)\)\]?$/i.exec(part)?.[1] ?? '').map(unquoted);
    const codes = words.slice(1).filter((c) => known.has(c));
    return codes.length > 0 ? [{ label: words[0]!, codes }] : [];
  });
  return { codes: parts.includes('*') ? null : parts.map(unquoted).filter((c) => known.has(c)), groups };
}

export function toQuery(choices: Choice[], extra: Record<string, string> = {}): URLSearchParams {
  const query = new URLSearchParams();
  for (const choice of choices) {
    query.set(`valuecodes[${choice.variable}]`, expressions(choice));
    query.set(`codelist[${choice.variable}]`, choice.level);
  }
  // without any variable the server would send its first table: this says that none is wanted
  if (choices.length === 0) query.set('valuecodes[ContentsCode]', '*');
  const named = (place: string) => choices.filter((c) => c.place === place).map((c) => c.variable);
  query.set('stub', named('rows').join(','));
  query.set('heading', [...named('columns'), 'ContentsCode'].join(','));
  for (const [name, value] of Object.entries(extra)) query.set(name, value);
  return query;
}

/** What the address says, as far as the data set has it. */
export function fromQuery(dataset: Dataset, query: URLSearchParams): Choice[] {
  const columns = unlisted(query.get('heading') ?? '');
  const order = [...unlisted(query.get('stub') ?? ''), ...columns];
  const choices: Choice[] = [];
  for (const [name, text] of query) {
    const code = /^valuecodes\[(.+)\]$/i.exec(name)?.[1];
    const variable = code === undefined ? undefined : findVariable(dataset, code);
    if (variable === undefined || variable.constant || choices.some((c) => c.variable === variable.code)) continue;
    const asked = query.get(`codelist[${code}]`);
    const level = variable.levels.find((l) => l.id === asked) ?? finest(variable);
    const known = new Set(level.categories.map((c) => c.code));
    const { codes: some, groups } = chosen(text, known);
    const codes = some?.length === known.size ? null : some;
    if (codes !== null && codes.length + groups.length === 0) continue;
    const place = columns.includes(variable.code) ? 'columns' : 'rows';
    choices.push({ variable: variable.code, place, level: level.id, codes, groups });
  }
  const rank = (c: Choice) => (order.indexOf(c.variable) + order.length + 1) % (order.length + 1);
  return choices.sort((a, b) => rank(a) - rank(b));
}

/** A default selection of the interface as an address: the first variable in rows, the others in columns. */
export function fromDefault(normal: DefaultSelection): URLSearchParams {
  const query = new URLSearchParams();
  for (const part of normal.selection) {
    query.set(`valuecodes[${part.variableCode}]`, listed(part.valueCodes));
    if (part.codelist) query.set(`codelist[${part.variableCode}]`, part.codelist.replace(/^[^.]*\./, ''));
  }
  const stub = normal.placement?.stub ?? [];
  query.set('stub', stub.slice(0, 1).join(','));
  query.set('heading', [...stub.slice(1), ...(normal.placement?.heading ?? [])].join(','));
  return query;
}
