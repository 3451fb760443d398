/** What is added up of calls: columns of the table `usage`. */
export const MEASURES = ['requests', 'errors', 'input_tokens', 'output_tokens', 'cached_tokens', 'reasoning_tokens'] as const

/** One number of each. */
export type Measures = { [Measure in (typeof MEASURES)[number]]: number }

/** Nothing yet. */
export function noMeasures(): Measures {
  return { requests: 0, errors: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 }
}

/** Adds to a sum. */
export function add(sum: Measures, more: Readonly<Measures>): void {
  for (const measure of MEASURES) sum[measure] += more[measure]
}
