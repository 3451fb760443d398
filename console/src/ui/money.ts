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
