import type { Dashboard } from './panel.ts'
import { JOB, quantile, rate } from './queries.ts'

/** How the upstreams answer. */
export const UPSTREAMS: Dashboard = {
  name: 'upstreams',
  title: 'Upstreams',
  rows: {
    Attempts: [
      {
        title: 'Attempts by namespace',
        unit: 'reqps',
        stacked: true,
        queries: { [rate('umg_upstream_attempts_total', 'namespace')]: '{{namespace}}' },
      },
      {
        title: 'Failed attempts',
        unit: 'percentunit',
        queries: {
          [`${rate('umg_upstream_attempts_total', 'namespace', 'result!="ok"')} / ${rate('umg_upstream_attempts_total', 'namespace')}`]:
            '{{namespace}}',
        },
      },
      {
        title: 'Failed attempts by error',
        unit: 'reqps',
        stacked: true,
        queries: { [rate('umg_upstream_attempts_total', 'namespace, result', 'result!="ok"')]: '{{namespace}}: {{result}}' },
      },
      {
        title: 'Time of attempts by provider, p95',
        unit: 's',
        width: 12,
        queries: {
          [quantile(0.95, 'gen_ai_client_operation_duration_seconds', 'gen_ai_provider_name')]: '{{gen_ai_provider_name}}',
        },
      },
      {
        title: 'Time of attempts by model, p95',
        unit: 's',
        width: 12,
        queries: {
          [quantile(0.95, 'gen_ai_client_operation_duration_seconds', 'gen_ai_response_model')]: '{{gen_ai_response_model}}',
        },
      },
    ],
    'Fail-over and protection': [
      {
        title: 'Circuit breakers that are not closed',
        type: 'state-timeline',
        unit: 'none',
        thresholds: [0.5, 1],
        width: 12,
        description: '1: open, no calls go to the target. 0.5: one attempt is made to see whether it works again.',
        queries: {
          [`max by (namespace, model) (umg_circuit_state{${JOB}, state="open"}) or 0.5 * max by (namespace, model) (umg_circuit_state{${JOB}, state="half_open"})`]:
            '{{namespace}}/{{model}}',
        },
      },
      {
        title: 'Fallbacks',
        unit: 'reqps',
        width: 12,
        rare: true,
        queries: {
          [rate('umg_fallbacks_total', 'namespace, model, to, reason')]: '{{namespace}}/{{model}} → {{to}}: {{reason}}',
        },
      },
      {
        title: 'Skipped for a limit of the namespace',
        unit: 'reqps',
        rare: true,
        queries: { [rate('umg_namespace_limited_total', 'namespace, limit')]: '{{namespace}}: {{limit}}' },
      },
      {
        title: 'Streams that broke off',
        unit: 'reqps',
        rare: true,
        queries: { [rate('umg_stream_aborts_total', 'side')]: 'by the {{side}}' },
      },
      {
        title: 'Attempts without a free descriptor',
        unit: 'reqps',
        rare: true,
        queries: { [rate('umg_shed_total', 'job', 'reason="descriptors"')]: '{{job}}' },
      },
    ],
  },
}
