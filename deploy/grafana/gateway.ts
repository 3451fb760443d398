import type { Dashboard } from './panel.ts'
import { JOB, quantile, RANGE, rate, total } from './queries.ts'

/** How the processes of the gateway fare. */
export const GATEWAY: Dashboard = {
  name: 'gateway',
  title: 'The gateway itself',
  rows: {
    State: [
      {
        title: 'Versions',
        type: 'stat',
        unit: 'none',
        width: 6,
        queries: { [`count by (version, node) (umg_build_info{${JOB}})`]: '{{version}}, Node {{node}}' },
      },
      {
        title: 'Versions of routes.yaml in use',
        type: 'stat',
        unit: 'none',
        thresholds: [2, 3],
        width: 6,
        queries: { [`count(count by (sha256) (umg_config_info{${JOB}}))`]: '' },
      },
      {
        title: 'Gateways with an invalid routes.yaml',
        type: 'stat',
        unit: 'none',
        thresholds: [1, 1],
        width: 6,
        queries: { [`count(umg_config_last_reload_successful{${JOB}}) - sum(umg_config_last_reload_successful{${JOB}})`]: '' },
      },
      {
        title: 'Processes replaced in a day',
        type: 'stat',
        unit: 'none',
        thresholds: [1, 5],
        width: 6,
        rare: true,
        queries: { [`sum(increase(umg_process_restarts_total{${JOB}}[24h]))`]: '' },
      },
    ],
    Load: [
      {
        title: 'Processor',
        unit: 'none',
        description: 'Cores in use.',
        queries: { [rate('process_cpu_seconds_total', 'instance')]: '{{instance}}' },
      },
      {
        title: 'Resident memory',
        unit: 'bytes',
        queries: { [total('process_resident_memory_bytes', 'instance')]: '{{instance}}' },
      },
      { title: 'Heap', unit: 'bytes', queries: { [total('nodejs_heap_size_used_bytes', 'instance')]: '{{instance}}' } },
      {
        title: 'Delay of the event loop, p99',
        unit: 's',
        thresholds: [0.05, 0.5],
        queries: { [`max by (instance) (nodejs_eventloop_lag_p99_seconds{${JOB}})`]: '{{instance}}' },
      },
      {
        title: 'Open files, of those allowed',
        unit: 'percentunit',
        thresholds: [0.7, 0.9],
        queries: { [`${total('process_open_fds', 'instance')} / ${total('process_max_fds', 'instance')}`]: '{{instance}}' },
      },
      {
        title: 'Refused because a limit is reached',
        unit: 'reqps',
        rare: true,
        queries: { [rate('umg_shed_total', 'reason')]: '{{reason}}' },
      },
      {
        title: 'Tasks that wait for a thread',
        unit: 'none',
        queries: { [total('umg_worker_queue_size', 'instance')]: '{{instance}}' },
      },
      {
        title: 'Processes replaced',
        unit: 'none',
        rare: true,
        queries: { [`sum by (role) (increase(umg_process_restarts_total{${JOB}}${RANGE}))`]: '{{role}}' },
      },
      {
        title: 'Versions of routes.yaml in memory',
        unit: 'none',
        queries: { [`max by (instance) (umg_config_generations{${JOB}})`]: '{{instance}}' },
      },
    ],
    'Plugins and storage': [
      {
        title: 'Time of plugins, p99',
        unit: 's',
        queries: { [quantile(0.99, 'umg_plugin_duration_seconds', 'plugin, phase')]: '{{plugin}}: {{phase}}' },
      },
      {
        title: 'Errors of plugins',
        unit: 'reqps',
        rare: true,
        queries: { [rate('umg_plugin_errors_total', 'plugin, phase')]: '{{plugin}}: {{phase}}' },
      },
      {
        title: 'Refused keys',
        unit: 'reqps',
        rare: true,
        queries: { [rate('umg_auth_failures_total', 'reason')]: '{{reason}}' },
      },
      {
        title: 'Rows of calls',
        unit: 'reqps',
        description: 'Rows that cannot be written wait and are tried again; when too many wait they are lost.',
        queries: {
          [rate('umg_usage_write_failures_total', 'error')]: 'cannot be written: {{error}}',
          [rate('umg_usage_rows_dropped_total', 'job')]: 'lost',
        },
      },
      {
        title: 'Questions to the counters of limits',
        unit: 'reqps',
        queries: { [rate('umg_quota_questions_total', 'result')]: '{{result}}' },
      },
      {
        title: 'Values counted as other',
        unit: 'reqps',
        rare: true,
        queries: { [rate('umg_metrics_overflow_total', 'metric')]: '{{metric}}' },
      },
    ],
  },
}
