// SPDX-License-Identifier: GPL-3.0-or-later
/* Amounts of privacy as they are read: "ρ 0.02", "ε ≤ 1.995", and the promise about everything together. */
import type { Cost, Pledge } from './api';
import { number, t } from './i18n.svelte';

const DIGITS = 4;
const USUAL_DELTA = 1e-6; // where a promise in rho is said in epsilon, too

/** "rho 0.02", as the server says it, with the letter and as the language writes decimals; all digits stay. */
export function symbols(text: string): string {
  const letters = { rho: 'ρ', epsilon: 'ε', delta: 'δ' };
  return text
    .replace(/\b(rho|epsilon|delta)\b/g, (word) => letters[word as keyof typeof letters])
    .replace(/\b\d+\.\d+\b/g, (amount) => number(Number(amount), amount.split('.')[1]!.length));
}

/** With some digits, rounded up: a bound stays one. */
function bound(value: number, digits = DIGITS): string {
  const places = value > 0 ? Math.min(12, Math.max(0, digits - 1 - Math.floor(Math.log10(value)))) : 0;
  return number(Math.ceil(value * 10 ** places) / 10 ** places, places, 0);
}

/** "0.000001": what a screen reader can say. */
const small = (value: number) => (value === 0 || value >= 1e-9 ? number(value, 12, 0) : value.toExponential());

/** Proposition 1.3 of Bun and Steinke (2016). */
const fromRho = (rho: number, delta: number) => rho + 2 * Math.sqrt(rho * Math.log(1 / delta));

/** What a cost is of a budget, and what is left of it, in per cent; null when they are of different kinds. */
export function shares(cost: Cost, budget: { cap?: string; left?: string } | undefined): { share: string; left: string } | null {
  const amount = (text: string | undefined) => Number(new RegExp(`^${cost.currency} ([\\d.e-]+)`).exec(text ?? '')?.[1] ?? NaN);
  const [cap, left] = [amount(budget?.cap), amount(budget?.left)];
  if (!(cap > 0) || !(left >= 0)) return null;
  return { share: bound((100 * Number(cost.amount)) / cap, 3), left: number(Math.floor((100 * left) / cap)) };
}

/** The promise in a sentence of the page's language. */
export function pledge(promise: Pledge): string {
  const { rho } = promise;
  const delta = promise.epsilon === undefined ? USUAL_DELTA : (promise.delta ?? 0);
  const epsilon = promise.epsilon ?? (rho === undefined ? undefined : fromRho(rho, delta));
  const amounts = [
    epsilon === undefined ? '' : `ε\u00a0≤\u00a0${bound(epsilon)}, δ\u00a0=\u00a0${small(delta)}`,
    rho === undefined ? '' : `ρ\u00a0≤\u00a0${bound(rho)}`,
  ].filter((text) => text !== '').join('; ');
  const neighbours = t(promise.neighbours === 'substitute' ? 'neighbours_substitute' : 'neighbours_add_remove');
  return t(({ cube: 'promise_cube', pack: 'promise_pack', budget: 'promise_budget' } as const)[promise.covers], { unit: promise.unit, neighbours, amounts });
}
