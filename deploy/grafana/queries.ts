/** What every query is restricted to: a variable of the dashboards. */
export const JOB = 'job=~"$job"'
/** The range of rates: a variable of Grafana. */
export const RANGE = '[$__rate_interval]'

/** The rate of a counter, in sums by these labels. */
export const rate = (metric: string, by: string, labels = ''): string =>
  `sum by (${by}) (rate(${metric}{${JOB}${labels && `, ${labels}`}}${RANGE}))`

/** A gauge, in sums by these labels. */
export const total = (metric: string, by: string): string => `sum by (${by}) (${metric}{${JOB}})`

/** A quantile of a histogram, by these labels. */
export const quantile = (share: number, histogram: string, by = ''): string =>
  `histogram_quantile(${share}, ${rate(`${histogram}_bucket`, by === '' ? 'le' : `le, ${by}`)})`

/** The 50th, 95th and 99th percentiles of a histogram. */
export const quantiles = (histogram: string): Readonly<Record<string, string>> => ({
  [quantile(0.5, histogram)]: 'p50',
  [quantile(0.95, histogram)]: 'p95',
  [quantile(0.99, histogram)]: 'p99',
})

const FAILED = 'outcome=~"upstream_error|timeout|gateway_error"'
const TRIED = 'outcome=~"ok|upstream_error|timeout|gateway_error"'

/** The share of calls that failed, of those that were tried. */
export const failedShare = (range: string): string =>
  `(sum(rate(umg_requests_total{${JOB}, ${FAILED}}${range})) or vector(0)) / sum(rate(umg_requests_total{${JOB}, ${TRIED}}${range}))`
