// SPDX-License-Identifier: GPL-3.0-or-later
/* Texts in the language of the page. A language is one file in texts/; what it lacks is said in English. */
import en from '../texts/en.json';
import sv from '../texts/sv.json';

type Texts = Record<keyof typeof en, string>;
const all: Record<string, Partial<Texts>> = { en, sv };

export const locale = $state({ language: 'en' });

export const languages = Object.keys(all);

export function t(key: keyof Texts, values: Record<string, string | number> = {}): string {
  const text = all[locale.language]?.[key] ?? en[key];
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

export function number(value: number, decimals = 0): string {
  return new Intl.NumberFormat(locale.language, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value);
}
