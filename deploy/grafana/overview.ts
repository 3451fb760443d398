import type { Dashboard } from './panel.ts'
import { failedShare, JOB, quantile, quantiles, RANGE, rate, total } from './queries.ts'

/** How the calls of clients fare. */
export const OVERVIEW: Dashboard = {
  name: 'overview',
  title: 'Overview',
  rows: {
    Now: [
      { title: 'Gateways', type: 'stat', unit: 'none', queries: { [`sum(up{${JOB}})`]: '' } },
      { title: 'Calls', type: 'stat', unit: 'reqps', queries: { [`sum(rate(umg_requests_total{${JOB}}${RANGE}))`]: '' } },
      { title: 'In flight', type: 'stat', unit: 'none', queries: { [`sum(umg_requests_in_flight{${JOB}})`]: '' } },
      {
        title: 'Failed in the last hour',
        type: 'stat',
        unit: 'percentunit',
        thresholds: [0.005, 0.072],
        description:
          'Of the calls that were not refused for a mistake or a limit of their client. Red: the alert UmgCallsFailFast.',
        queries: { [failedShare('[1h]')]: '' },
      },
      {
        title: 'First token, p95',
        type: 'stat',
        unit: 's',
        thresholds: [2.5, 5],
        queries: { [quantile(0.95, 'gen_ai_server_time_to_first_token_seconds')]: '' },
      },
      {
        title: 'Cost of 24 hours',
        type: 'stat',
        unit: 'currencyUSD',
        rare: true,
        queries: { [`sum(increase(umg_cost_usd_total{${JOB}}[24h]))`]: '' },
      },
    ],
    Calls: [
      {
        title: 'Calls by outcome',
        unit: 'reqps',
        stacked: true,
        queries: { [rate('umg_requests_total', 'outcome')]: '{{outcome}}' },
      },
      { title: 'Calls by status', unit: 'reqps', stacked: true, queries: { [rate('umg_requests_total', 'code')]: '{{code}}' } },
      { title: 'Failed calls', unit: 'percentunit', thresholds: [0.005, 0.072], queries: { [failedShare(RANGE)]: 'failed' } },
      {
        title: 'Calls by model',
        unit: 'reqps',
        stacked: true,
        queries: { [`topk(10, ${rate('umg_requests_total', 'namespace, model')})`]: '{{namespace}}/{{model}}' },
      },
      {
        title: 'Calls in flight',
        unit: 'none',
        stacked: true,
        queries: { [total('umg_requests_in_flight', 'namespace')]: '{{namespace}}' },
      },
      {
        title: 'Refused by limits',
        unit: 'reqps',
        rare: true,
        queries: { [rate('umg_rate_limited_total', 'limit, scope, dimension')]: '{{limit}}: {{dimension}} of the {{scope}}' },
      },
    ],
    Time: [
      { title: 'Time to the first token', unit: 's', queries: quantiles('gen_ai_server_time_to_first_token_seconds') },
      {
        title: 'Time to the first token by model, p95',
        unit: 's',
        queries: {
          [quantile(0.95, 'gen_ai_server_time_to_first_token_seconds', 'gen_ai_request_model')]: '{{gen_ai_request_model}}',
        },
      },
      {
        title: 'Time per output token, p50',
        unit: 's',
        rare: true,
        queries: {
          [quantile(0.5, 'gen_ai_server_time_per_output_token_seconds', 'gen_ai_request_model')]: '{{gen_ai_request_model}}',
        },
      },
      { title: 'Time of calls', unit: 's', queries: quantiles('gen_ai_server_request_duration_seconds') },
      {
        title: 'Time of calls by model, p95',
        unit: 's',
        queries: {
          [quantile(0.95, 'gen_ai_server_request_duration_seconds', 'gen_ai_request_model')]: '{{gen_ai_request_model}}',
        },
      },
      {
        title: 'Time in the gateway itself',
        unit: 's',
        description: 'What the gateway adds to the time of the upstream.',
        queries: quantiles('umg_overhead_seconds'),
      },
    ],
  },
}
