// SPDX-License-Identifier: GPL-3.0-or-later
/* The table that is being built: choices, what is known before asking, and the answer. Reading costs
 * nothing, so the answer follows the choices by itself; drawing never happens without a question. */
import { draw, getData, getPreview, getStatement, Refused, type Preview, type Refusal, type Statement } from './api';
import { fromQuery, toQuery } from './address';
import { crosstab, type Crosstab, type JsonStat } from './crosstab';
import { enumeration, locale, t } from './i18n.svelte';
import { canonical, finest, findVariable, levelOf, nCells, type Choice, type Dataset, type Place } from './model';

export class Builder {
  choices = $state<Choice[]>([]);
  preview = $state<Preview | null>(null);
  /** The answer, and the same with the rows and columns that were asked for. */
  private answer = $state.raw<{ data: JsonStat; table: Crosstab } | null>(null);
  refusal = $state<Refusal | null>(null);
  /** What is promised about all tables together, and what is left of a budget. */
  statement = $state.raw<Statement | null>(null);
  isLoading = $state(false);
  private asked = 0;

  constructor(readonly dataset: Dataset) {
    void this.state();
  }
  private async state(): Promise<void> {
    this.statement = await getStatement(this.dataset.id).catch(() => null);
  }

  get query(): URLSearchParams {
    return toQuery(this.choices, { lang: locale.language });
  }
  /** The permalink: it gives the same numbers as long as the server is there. */
  get link(): string {
    return new URL(`/t/${encodeURIComponent(this.dataset.id)}?${this.query}`, location.href).href;
  }
  get table(): string {
    return canonical(this.dataset, this.choices);
  }
  get cells(): number {
    return nCells(this.dataset, this.choices);
  }
  get data(): JsonStat | null {
    return this.answer?.data ?? null;
  }
  /** Notes of the answer but that of the data set, which stands on top. */
  get notes(): string[] {
    return (this.data?.note ?? []).filter((note) => note !== this.dataset.note);
  }
  get crosstab(): Crosstab | null {
    return this.answer?.table ?? null;
  }

  /** "Persons by region (2 of 8) and sex, 2026". */
  get title(): string {
    const named = this.choices.map((c) => {
      const variable = findVariable(this.dataset, c.variable)!.label;
      const total = levelOf(this.dataset, c).categories.length;
      const n = c.codes === null ? total : new Set([...c.codes, ...c.groups.flatMap((g) => g.codes)]).size;
      return n === total ? variable : `${variable} (${t('some', { n, total })})`;
    });
    const counted = this.dataset.counted.charAt(0).toLocaleUpperCase(locale.language) + this.dataset.counted.slice(1);
    const fixed = this.dataset.variables.filter((v) => v.constant).map((v) => v.levels[0]!.categories[0]!.label);
    const by = named.length > 0 ? t('by', { counted, variables: enumeration(named) }) : counted;
    return [by, ...fixed].join(', ');
  }
  /** A canonical table in words: "Regions × sex". */
  words(table: string): string {
    if (table === 'total') return t('total');
    const name = (id: string) => {
      const variable = this.dataset.variables.find((v) => v.levels.some((l) => l.id === id));
      const level = variable?.levels.find((l) => l.id === id);
      return variable !== undefined && variable.levels.length > 1 ? `${variable.label} (${level!.label})` : (variable?.label ?? id);
    };
    return table.split('*').map(name).join(' × ');
  }

  open(query: URLSearchParams): void {
    this.choices = fromQuery(this.dataset, query);
    void this.ask();
  }

  /** Shows a canonical table, "region^1*sex": what a refusal offers. */
  openTable(table: string): void {
    const ids = table === 'total' ? [] : table.split('*');
    const kept = new Map(this.choices.map((c) => [c.variable, c]));
    this.choices = ids.flatMap((id): Choice[] => {
      const variable = this.dataset.variables.find((v) => v.levels.some((l) => l.id === id));
      if (variable === undefined) return [];
      const old = kept.get(variable.code);
      if (old !== undefined && old.level === id) return [old];
      return [{ variable: variable.code, place: old?.place ?? 'rows', level: id, codes: null, groups: [] }];
    });
    this.changed();
  }

  add(code: string, place?: Place): void {
    const variable = findVariable(this.dataset, code);
    if (variable === undefined || this.choices.some((c) => c.variable === code)) return;
    const empty = this.choices.length === 0 ? 'rows' : 'columns';
    const where = place ?? (this.choices.some((c) => c.place === 'columns') ? 'rows' : empty);
    this.choices.push({ variable: code, place: where, level: finest(variable).id, codes: null, groups: [] });
    this.changed();
  }
  remove(code: string): void {
    this.choices = this.choices.filter((c) => c.variable !== code);
    this.changed();
  }
  move(code: string, place: Place): void {
    const choice = this.choices.find((c) => c.variable === code);
    if (choice === undefined) return;
    this.choices = [...this.choices.filter((c) => c !== choice), { ...choice, place }];
    this.changed();
  }
  /** One place towards the front (-1) or the back (1) among those of its side. */
  shift(code: string, by: -1 | 1): void {
    const at = this.choices.findIndex((c) => c.variable === code);
    const place = this.choices[at]!.place;
    let to = at + by;
    while (this.choices[to] !== undefined && this.choices[to]!.place !== place) to += by;
    if (this.choices[to] === undefined) return;
    const next = [...this.choices];
    [next[at], next[to]] = [next[to]!, next[at]!];
    this.choices = next;
    this.changed();
  }
  swap(): void {
    this.choices = this.choices.map((c) => ({ ...c, place: c.place === 'rows' ? 'columns' : 'rows' }));
    this.changed();
  }

  /** After every change: the address follows, and the answer. */
  changed(): void {
    history.replaceState(null, '', `/t/${encodeURIComponent(this.dataset.id)}?${this.query}`);
    void this.ask();
  }

  async ask(): Promise<void> {
    const mine = ++this.asked;
    const isOld = () => mine !== this.asked;
    this.isLoading = true;
    this.refusal = null;
    try {
      const preview = await getPreview(this.dataset.id, this.table);
      if (isOld()) return;
      this.preview = preview;
      if (preview.answer === null && preview.refusal !== null) {
        const { detail, rule, kind, suggestions } = preview.refusal;
        this.answer = null;
        this.refusal = { status: 403, detail, rule, kind, suggestions };
        return;
      }
      const named = (place: Place) => this.choices.filter((c) => c.place === place).map((c) => c.variable);
      const [rows, columns] = [named('rows'), named('columns')];
      const data = await getData(this.dataset.id, this.query);
      if (isOld()) return;
      this.answer = { data, table: crosstab(data, rows, columns) };
    } catch (error) {
      if (isOld()) return;
      this.answer = null;
      this.refusal = error instanceof Refused ? error.refusal : { status: 0, detail: error instanceof Error ? error.message : String(error) };
    } finally {
      if (!isOld()) this.isLoading = false;
    }
  }

  /** Draws the table, at the cost that was shown and no more. What is wrong with the token is answered, for its field. */
  async draw(): Promise<string> {
    const draws = this.preview?.draw;
    if (draws == null) return '';
    try {
      await draw(this.dataset.id, this.table, draws.cost?.amount ?? '0');
      await Promise.all([this.ask(), this.state()]);
    } catch (error) {
      const said = error instanceof Refused ? error.refusal : null;
      if (said !== null && (said.status === 401 || (said.status === 403 && said.rule === undefined))) return said.detail;
      this.refusal = error instanceof Refused ? error.refusal : { status: 0, detail: String(error) };
    }
    return '';
  }
}
