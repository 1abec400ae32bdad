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

/** One of two texts, by the grammar of the language: "1 result", "2 results". */
export function plural(one: keyof Texts, other: keyof Texts, n: number): string {
  return t(new Intl.PluralRules(locale.language).select(n) === 'one' ? one : other, { n });
}

/** Making one takes longer than all else that a cell needs while it scrolls. */
const formats = new Map<string, Intl.NumberFormat>();
function formatOf(language: string, least: number, most: number): Intl.NumberFormat {
  const key = `${language} ${least} ${most}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: least, maximumFractionDigits: most });
  formats.set(key, format);
  return format;
}

/** With a true minus, and none at what is rounded to zero. */
export function number(value: number, decimals = 0, least = decimals): string {
  const text = formatOf(locale.language, least, decimals).format(value);
  return (/[1-9]/.test(text) ? text : text.replace(/^[-−]/, '')).replace(/^-/, '−');
}

/** In the locale's order of things: "region, sex and age". */
export function enumeration(words: string[]): string {
  return new Intl.ListFormat(locale.language, { type: 'conjunction' }).format(words);
}

/** "Updated 2026-07-01, next update 2027-07-01"; what is not known is left out. */
export function dates(dataset: { updated?: string | null; next_update?: string | null }): string {
  const known = [
    dataset.updated ? t('updated', { date: dataset.updated }) : '',
    dataset.next_update ? t('next_update', { date: dataset.next_update }) : '',
  ];
  return known.filter((text) => text !== '').join(', ');
}

/** "Svenska", in the language itself. */
export function languageName(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}

/** For searching: without accents and capitals. */
export function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
