import { exactly } from './numbers.ts'

const formats = {
  cents: new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' }),
  /** Most calls cost less than a cent. */
  small: new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumSignificantDigits: 3 }),
}

/** "$12.50", "$0.00213"; "Unknown" for null. The API's amounts are texts. */
export function dollars(usd: number | string | null): string {
  if (usd === null) return 'Unknown'
  const value = Number(usd)
  return value === 0 || value >= 1 ? formats.cents.format(value) : formats.small.format(value)
}

/** The cost of several requests: "≥ $12.50" if the cost of some of them is unknown. */
export function spent({ cost_usd, unpriced }: { readonly cost_usd: number | string | null; readonly unpriced: number }): string {
  return cost_usd !== null && unpriced > 0 ? `≥ ${dollars(cost_usd)}` : dollars(cost_usd)
}

/** What "≥" means at the cost of several requests; '' if the cost of each is known. */
export function unpricedNote(unpriced: number): string {
  if (unpriced === 0) return ''
  return `${exactly(unpriced)} ${unpriced === 1 ? 'request' : 'requests'} of unknown cost ${unpriced === 1 ? 'is' : 'are'} not in it`
}
