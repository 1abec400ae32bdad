// SPDX-License-Identifier: GPL-3.0-or-later
/* A table as it is read: headings of rows and columns, and a value with its interval in each cell. */
import { number, t } from './i18n.svelte';

/** A JSON-stat data set as our server writes it. */
export interface JsonStat {
  label: string;
  updated?: string;
  source?: string;
  note?: string[];
  id: string[];
  size: number[];
  value: (number | null)[];
  status?: Record<string, string>;
  role?: { time?: string[]; geo?: string[]; metric?: string[] };
  dimension: Record<string, { label: string; category: { index: Record<string, number> | string[]; label: Record<string, string>; unit?: Record<string, { decimals?: number }> } }>;
  extension?: Record<string, unknown>;
}

export interface Cell {
  value: number | null;
  se: number | null;
  low: number | null;
  high: number | null;
}

export interface Heading {
  codes: string[];
  labels: string[];
}

export interface Crosstab {
  title: string;
  rowVariables: string[];
  columnVariables: string[];
  rows: Heading[];
  columns: Heading[];
  decimals: number;
  cell(row: number, column: number): Cell;
  /** The same place in lists of the server that have one number a cell. */
  figure(figures: Figures, row: number, column: number): Cell;
}

/** Values and intervals of another kind, such as shares, in the order of the data. */
export interface Figures {
  value: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

const CONTENTS = 'ContentsCode';

function codesOf(data: JsonStat, id: string): string[] {
  const index = data.dimension[id]!.category.index;
  if (Array.isArray(index)) return index;
  return Object.entries(index).sort((a, b) => a[1] - b[1]).map(([code]) => code);
}

/** Every combination of categories of the named dimensions, the last one fastest. */
function headings(data: JsonStat, ids: string[]): Heading[] {
  let all: Heading[] = [{ codes: [], labels: [] }];
  for (const id of ids) {
    const label = data.dimension[id]!.category.label;
    const codes = codesOf(data, id);
    all = all.flatMap((h) => codes.map((code) => ({ codes: [...h.codes, code], labels: [...h.labels, label[code] ?? code] })));
  }
  return all;
}

/** How far apart neighbours of each dimension are. */
function strides(ids: string[], sizes: number[]): Map<string, number> {
  const stride = new Map<string, number>();
  ids.reduceRight((step, id, i) => (stride.set(id, step), step * sizes[i]!), 1);
  return stride;
}

/** Dimensions that are in neither list have one category, a period that never changes: else one cell would pass for all. */
export function crosstab(data: JsonStat, rowIds: string[], columnIds: string[]): Crosstab {
  const lost = data.id.find((id, i) => id !== CONTENTS && data.size[i]! > 1 && !rowIds.includes(id) && !columnIds.includes(id));
  if (lost !== undefined) throw new Error(`the answer has ${lost}, which was not asked for`);
  const stride = strides(data.id, data.size);
  const isCell = data.id.map((id) => id !== CONTENTS);
  const cellStride = strides(data.id.filter((_, i) => isCell[i]), data.size.filter((_, i) => isCell[i]));
  const contents = codesOf(data, CONTENTS);
  const at = (content: string) => contents.indexOf(content) * stride.get(CONTENTS)!;
  const offsets = (ids: string[], by: Map<string, number>) =>
    ids.reduce<number[]>((all, id) => all.flatMap((o) => codesOf(data, id).map((_, k) => o + k * by.get(id)!)), [0]);
  const rowOffsets = offsets(rowIds, stride);
  const columnOffsets = offsets(columnIds, stride);
  const rowCells = offsets(rowIds, cellStride);
  const columnCells = offsets(columnIds, cellStride);
  const [count, se, low, high] = ['count', 'se', 'noise_low95', 'noise_high95'].map(at) as [number, number, number, number];
  const known = (i: number) => (i < 0 ? null : (data.value[i] ?? null));
  return {
    title: data.label,
    rowVariables: rowIds.map((id) => data.dimension[id]!.label),
    columnVariables: columnIds.map((id) => data.dimension[id]!.label),
    rows: headings(data, rowIds),
    columns: headings(data, columnIds),
    decimals: Math.min(1, data.dimension[CONTENTS]!.category.unit?.['count']?.decimals ?? 0),
    cell(row, column) {
      const base = rowOffsets[row]! + columnOffsets[column]!;
      return { value: known(base + count), se: known(base + se), low: known(base + low), high: known(base + high) };
    },
    figure(figures, row, column) {
      const i = rowCells[row]! + columnCells[column]!;
      return { value: figures.value[i] ?? null, se: null, low: figures.low[i] ?? null, high: figures.high[i] ?? null };
    },
  };
}

/** How many decimals are shown: none where noise is larger than some units. Files have all of them. */
export function decimalsShown(table: Crosstab): number {
  const first = table.rows.length * table.columns.length > 0 ? table.cell(0, 0) : null;
  const width = first === null || first.low === null || first.high === null ? 0 : first.high - first.low;
  return width >= 4 ? 0 : table.decimals;
}

/** The ends of an interval in words, rounded away from the value, so that what is shown covers. */
export function ends(cell: { low: number | null; high: number | null }, decimals: number): { low: string; high: string } {
  const unit = 10 ** decimals;
  const slack = 1e-6; // of numbers that are whole but for their last bit
  return {
    low: number(Math.floor(cell.low! * unit + slack) / unit, decimals),
    high: number(Math.ceil(cell.high! * unit - slack) / unit, decimals),
  };
}

/** "12 – 30"; with "to" where a minus would look like another dash. */
export function interval(cell: Cell, decimals: number): string {
  return t(cell.low! < 0 ? 'interval_negative' : 'interval', ends(cell, decimals));
}

/** 1 when noise hides the value: it may be off by more than half of it. */
export function isTooWide(cell: Cell): boolean {
  return cell.value !== null && cell.low !== null && cell.high !== null && cell.high - cell.low > Math.abs(cell.value);
}

/** Notes of an answer are about its protection, or about what is counted: the latter stand below the table. */
export function isProtection(note: string): boolean {
  return /^(Protection|Protected unit|Values|Certificate|Standard errors and bounds): /.test(note);
}
