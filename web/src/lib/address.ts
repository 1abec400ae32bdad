// SPDX-License-Identifier: GPL-3.0-or-later
/* The address of a table: the same words in which PxWeb clients ask, so that the page, a client and a
 * browser without scripts read one link alike. */
import { findVariable, finest, type Choice, type Dataset } from './model';

/** Codes with a comma stand in brackets, as the interface wants it. */
function listed(codes: string[]): string {
  return codes.map((code) => (/[,[\]]/.test(code) ? `[${code}]` : code)).join(',');
}

function unlisted(text: string): string[] {
  return [...text.matchAll(/\[([^\]]*)\]|([^,]+)/g)].map((m) => m[1] ?? m[2]!);
}

export function toQuery(choices: Choice[], extra: Record<string, string> = {}): URLSearchParams {
  const query = new URLSearchParams();
  for (const choice of choices) {
    query.set(`valuecodes[${choice.variable}]`, choice.codes === null ? '*' : listed(choice.codes));
    query.set(`codelist[${choice.variable}]`, choice.level);
    for (const group of choice.groups) {
      query.append(`group[${choice.variable}]`, `${group.label}=${listed(group.codes)}`);
    }
  }
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
    if (variable === undefined || choices.some((c) => c.variable === variable.code)) continue;
    const asked = query.get(`codelist[${code}]`);
    const level = variable.levels.find((l) => l.id === asked) ?? finest(variable);
    const known = new Set(level.categories.map((c) => c.code));
    const codes = text === '*' ? null : unlisted(text).filter((c) => known.has(c));
    const groups = query.getAll(`group[${code}]`).flatMap((value) => {
      const at = value.indexOf('=');
      const members = unlisted(value.slice(at + 1)).filter((c) => known.has(c));
      return at > 0 && members.length > 0 ? [{ label: value.slice(0, at), codes: members }] : [];
    });
    if (codes !== null && codes.length + groups.length === 0) continue;
    const place = columns.includes(variable.code) ? 'columns' : 'rows';
    choices.push({ variable: variable.code, place, level: level.id, codes, groups });
  }
  const rank = (c: Choice) => (order.indexOf(c.variable) + order.length + 1) % (order.length + 1);
  return choices.sort((a, b) => rank(a) - rank(b));
}
