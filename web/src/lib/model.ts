// SPDX-License-Identifier: GPL-3.0-or-later
/* What the server says about its data sets, and what a user has chosen of one. */

export interface Category {
  code: string;
  label: string;
  parent?: string | null;
  note?: string | null;
}

export interface Level {
  id: string;
  label: string;
  categories: Category[];
}

export interface Variable {
  code: string;
  label: string;
  note?: string | null;
  role?: 'plain' | 'time' | 'geo';
  constant?: boolean; // one category, always shown
  levels: Level[];
}

export interface Dataset {
  id: string;
  kind: 'releases' | 'cube' | 'budget' | 'cell-key';
  title: string;
  note?: string | null;
  unit: string;
  counted: string;
  source?: string | null;
  contact?: string | null;
  updated?: string | null;
  next_update?: string | null;
  max_cells: number;
  variables: Variable[];
}

/** Categories that the user put together, shown as one. */
export interface Group {
  label: string;
  codes: string[];
}

export type Place = 'rows' | 'columns';

/** One variable of the table that is being built. */
export interface Choice {
  variable: string;
  place: Place;
  level: string;
  codes: string[] | null; // null: all of the level
  groups: Group[];
}

export function findVariable(dataset: Dataset, code: string): Variable | undefined {
  return dataset.variables.find((v) => v.code === code);
}

/** The finest level comes last. */
export function finest(variable: Variable): Level {
  return variable.levels[variable.levels.length - 1]!;
}

export function levelOf(dataset: Dataset, choice: Choice): Level {
  const variable = findVariable(dataset, choice.variable)!;
  return variable.levels.find((l) => l.id === choice.level) ?? finest(variable);
}

/** How many headings a choice has. */
export function nHeadings(dataset: Dataset, choice: Choice): number {
  const plain = choice.codes === null ? levelOf(dataset, choice).categories.length : choice.codes.length;
  return plain + choice.groups.length;
}

export function nCells(dataset: Dataset, choices: Choice[]): number {
  return choices.reduce((product, choice) => product * nHeadings(dataset, choice), 1);
}

/** "region^1*sex", in the order of the data set: what is protected and paid as one. */
export function canonical(dataset: Dataset, choices: Choice[]): string {
  const parts = dataset.variables
    .map((v) => choices.find((c) => c.variable === v.code))
    .filter((c): c is Choice => c !== undefined)
    .map((c) => c.level);
  return parts.length > 0 ? parts.join('*') : 'total';
}

/** All below a category of a coarser level, as codes of a finer one. */
export function below(variable: Variable, level: Level, code: string, target: Level): string[] {
  const from = variable.levels.indexOf(level);
  const to = variable.levels.indexOf(target);
  let codes = new Set([code]);
  for (let i = from + 1; i <= to; i++) {
    const next = variable.levels[i]!.categories.filter((c) => c.parent != null && codes.has(c.parent));
    codes = new Set(next.map((c) => c.code));
  }
  return [...codes];
}
