/** Nano-dollars of a US dollar. Money is counted in whole nano-dollars: up to 9,007,199 US dollars, sums of them are exact. */
export const NANO_USD = 1_000_000_000

/** The largest amount that is exact, in nano-dollars. */
export const MAX_NANO_USD = Number.MAX_SAFE_INTEGER

/** An amount in US dollars, exactly: `12.50`, `0.0000375`. At least two decimals. `nanoUsd`: a whole number, 0 or more. */
export function formatUsd(nanoUsd: number): string {
  const fraction = nanoUsd % NANO_USD
  const decimals = String(fraction).padStart(9, '0').replace(/0+$/, '').padEnd(2, '0')
  return `${(nanoUsd - fraction) / NANO_USD}.${decimals}`
}

const NANO_CENT = NANO_USD / 100

/** An amount in US dollars and cents: `12.50`. */
export const formatCents = (cents: number): string => formatUsd(cents * NANO_CENT)

/**
 * Amounts in whole cents that add up to their total in whole cents: the total is rounded half up, each amount is rounded down, and
 * the missing cents go to the amounts with the largest remainders.
 */
export function toCents(nanoUsd: readonly number[]): { readonly total: number; readonly parts: readonly number[] } {
  const total = Math.round(nanoUsd.reduce((sum, amount) => sum + amount, 0) / NANO_CENT)
  const parts = nanoUsd.map((amount) => (amount - (amount % NANO_CENT)) / NANO_CENT)
  const missing = total - parts.reduce((sum, cents) => sum + cents, 0)
  const byRemainder = nanoUsd.map((amount, index) => ({ index, remainder: amount % NANO_CENT }))
  byRemainder.sort((a, b) => b.remainder - a.remainder || a.index - b.index)
  for (const { index } of byRemainder.slice(0, missing)) parts[index]! += 1
  return { total, parts }
}
