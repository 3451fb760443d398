import type { Dashboard } from './panel.ts'
import { JOB, rate } from './queries.ts'

const tokens = (by: string, type: string): string => rate('gen_ai_client_token_usage_sum', by, `gen_ai_token_type="${type}"`)

const input = (labels?: string): string => rate('umg_input_tokens_total', 'namespace, model, credential', labels)

/** What calls use and cost. */
export const TOKENS_AND_MONEY: Dashboard = {
  name: 'tokens-and-money',
  title: 'Tokens and money',
  rows: {
    Money: [
      {
        title: 'Cost per hour by namespace',
        unit: 'currencyUSD',
        stacked: true,
        queries: { [`3600 * ${rate('umg_cost_usd_total', 'namespace')}`]: '{{namespace}}' },
      },
      {
        title: 'Cost per hour by model',
        unit: 'currencyUSD',
        stacked: true,
        queries: { [`topk(10, 3600 * ${rate('umg_cost_usd_total', 'namespace, model')})`]: '{{namespace}}/{{model}}' },
      },
      {
        title: 'Cost of 24 hours by model',
        type: 'bargauge',
        unit: 'currencyUSD',
        queries: {
          [`topk(10, sum by (namespace, model) (increase(umg_cost_usd_total{${JOB}}[24h])))`]: '{{namespace}}/{{model}}',
        },
      },
      {
        title: 'Budgets, by what is spent of them',
        type: 'bargauge',
        unit: 'percentunit',
        thresholds: [0.8, 0.9],
        width: 12,
        description: 'Of accounts and keys that have made calls since the gateway started. All gateways have the same values.',
        queries: {
          [`sort_desc(max by (scope, id, window) (umg_budget_spent_usd{${JOB}}) / max by (scope, id, window) (umg_budget_limit_usd{${JOB}}))`]:
            '{{scope}} {{id}}, {{window}}',
        },
      },
      {
        title: 'Calls without a known price',
        unit: 'reqps',
        width: 12,
        rare: true,
        description: 'Their cost is unknown, and is not in any sum.',
        queries: { [rate('umg_unpriced_calls_total', 'namespace, model')]: '{{namespace}}/{{model}}' },
      },
    ],
    Tokens: [
      {
        title: 'Tokens per second',
        unit: 'short',
        description: 'Cached tokens are part of the input, reasoning is part of the output.',
        queries: { [rate('gen_ai_client_token_usage_sum', 'gen_ai_token_type')]: '{{gen_ai_token_type}}' },
      },
      {
        title: 'Output tokens per second by model',
        unit: 'short',
        stacked: true,
        queries: { [`topk(10, ${tokens('gen_ai_request_model', 'output')})`]: '{{gen_ai_request_model}}' },
      },
      {
        title: 'Input tokens per second by model',
        unit: 'short',
        stacked: true,
        queries: { [`topk(10, ${tokens('gen_ai_request_model', 'input')})`]: '{{gen_ai_request_model}}' },
      },
      {
        title: 'Input that was cached, by model and credential',
        unit: 'percentunit',
        rare: true,
        queries: {
          [`topk(10, ${input('cache="read"')} / ${input()})`]: '{{namespace}}/{{model}} {{credential}}',
        },
      },
      {
        title: 'Tokens of a prompt',
        unit: 'short',
        queries: {
          [`histogram_quantile(0.5, ${rate('gen_ai_client_token_usage_bucket', 'le', 'gen_ai_token_type="input"')})`]: 'p50',
          [`histogram_quantile(0.95, ${rate('gen_ai_client_token_usage_bucket', 'le', 'gen_ai_token_type="input"')})`]: 'p95',
        },
      },
      {
        title: 'Tokens of an answer',
        unit: 'short',
        queries: {
          [`histogram_quantile(0.5, ${rate('gen_ai_client_token_usage_bucket', 'le', 'gen_ai_token_type="output"')})`]: 'p50',
          [`histogram_quantile(0.95, ${rate('gen_ai_client_token_usage_bucket', 'le', 'gen_ai_token_type="output"')})`]: 'p95',
        },
      },
    ],
  },
}
