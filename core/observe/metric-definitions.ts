// OpenTelemetry's generative-AI conventions in Prometheus' spelling. They are still in development: only this file has their names.
const OPERATION = 'gen_ai_operation_name'
const PROVIDER = 'gen_ai_provider_name'
const REQUEST_MODEL = 'gen_ai_request_model'
const RESPONSE_MODEL = 'gen_ai_response_model'
const TOKEN_TYPE = 'gen_ai_token_type'
const ERROR_TYPE = 'error_type'

/** The buckets that the conventions advise, each twice the one before; the last two are for long replies. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68]
const SECONDS_TO_FIRST_TOKEN = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60]
const SECONDS_PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]
const SECONDS_INSIDE = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25]
const SECONDS_IN_A_PLUGIN = [0.0001, 0.001, 0.01, 0.1, 1, 10]
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304]

/** The metrics of core. A test compares docs/metrics.md with them. */
export const METRICS = {
  requestDuration: {
    name: 'gen_ai_server_request_duration_seconds',
    type: 'histogram',
    help: 'Time of a call of a model, from the request to the last byte of the reply.',
    labels: [OPERATION, REQUEST_MODEL, ERROR_TYPE],
    buckets: SECONDS,
  },
  timeToFirstToken: {
    name: 'gen_ai_server_time_to_first_token_seconds',
    type: 'histogram',
    help: 'Time to the first content of a stream that succeeded.',
    labels: [OPERATION, REQUEST_MODEL],
    buckets: SECONDS_TO_FIRST_TOKEN,
  },
  timePerOutputToken: {
    name: 'gen_ai_server_time_per_output_token_seconds',
    type: 'histogram',
    help: 'Time per output token after the first, of a stream that succeeded and reported its usage.',
    labels: [REQUEST_MODEL],
    buckets: SECONDS_PER_TOKEN,
  },
  operationDuration: {
    name: 'gen_ai_client_operation_duration_seconds',
    type: 'histogram',
    help: 'Time of one attempt at an upstream.',
    labels: [PROVIDER, RESPONSE_MODEL, ERROR_TYPE],
    buckets: SECONDS,
  },
  tokenUsage: {
    name: 'gen_ai_client_token_usage',
    type: 'histogram',
    help: 'Tokens of a call that an upstream served, estimates included; the sum is the number of tokens.',
    labels: [PROVIDER, REQUEST_MODEL, TOKEN_TYPE],
    buckets: TOKENS,
  },
  inputTokens: {
    name: 'umg_input_tokens_total',
    type: 'counter',
    help: 'Input tokens by the model and the credential that served them: read from a cache of the upstream (cache="read"), or not (cache="none").',
    labels: ['namespace', 'model', 'credential', 'cache'],
  },
  cost: {
    name: 'umg_cost_usd_total',
    type: 'counter',
    help: 'Cost of calls in US dollars, by the model that served them, estimates included.',
    labels: ['namespace', 'model'],
  },
  unpricedCalls: {
    name: 'umg_unpriced_calls_total',
    type: 'counter',
    help: 'Calls that used tokens of a model without a known price: their cost is unknown.',
    labels: ['namespace', 'model'],
  },
  priceUpdates: {
    name: 'umg_price_updates_total',
    type: 'counter',
    help: 'Updates of list prices by source and result: updated, unchanged, refused (the last good list stays), failed (not read).',
    labels: ['source', 'result'],
  },
  priceListRefused: {
    name: 'umg_price_list_refused',
    type: 'gauge',
    help: '1 if the newest list prices of a source were refused and the last good ones stay in use; 0 once newer ones are in use.',
    labels: ['source'],
    across: 'max',
  },
  budgetLimit: {
    name: 'umg_budget_limit_usd',
    type: 'gauge',
    help: 'Budget in US dollars of an account or key whose calls have used it since the gateway started; at most 500.',
    labels: ['scope', 'id', 'window'],
    across: 'max',
  },
  budgetSpent: {
    name: 'umg_budget_spent_usd',
    type: 'gauge',
    help: 'What the calls of the current window of such a budget have cost, in US dollars.',
    labels: ['scope', 'id', 'window'],
    across: 'max',
  },
  requests: {
    name: 'umg_requests_total',
    type: 'counter',
    help: 'Calls that ended, by HTTP status and outcome.',
    labels: ['namespace', 'model', 'code', 'outcome'],
  },
  quotaQuestions: {
    name: 'umg_quota_questions_total',
    type: 'counter',
    help: 'Questions of a process to the authority of limits: answered, or unavailable.',
    labels: ['result'],
  },
  keptValues: {
    name: 'umg_kept_values',
    type: 'gauge',
    help: 'Values that are kept for a while, of all gateways that share the database or Redis server, counted once a minute.',
    labels: ['space'],
    across: 'max',
  },
  keptBytes: {
    name: 'umg_kept_values_bytes',
    type: 'gauge',
    help: 'What these values take, in bytes.',
    labels: ['space'],
    across: 'max',
  },
  keptValueUses: {
    name: 'umg_kept_value_uses_total',
    type: 'counter',
    help: 'Values that calls kept or asked for, by what came of it.',
    labels: ['space', 'result'],
  },
  inFlight: {
    name: 'umg_requests_in_flight',
    type: 'gauge',
    help: 'Calls in flight.',
    labels: ['namespace'],
  },
  attempts: {
    name: 'umg_upstream_attempts_total',
    type: 'counter',
    help: 'Attempts at upstreams, by their result: ok, or the name of the error.',
    labels: ['namespace', 'provider', 'result'],
  },
  credentialAttempts: {
    name: 'umg_credential_attempts_total',
    type: 'counter',
    help: 'Attempts by the credential that they used, of namespaces with several: ok, or the name of the error.',
    labels: ['namespace', 'credential', 'result'],
  },
  fallbacks: {
    name: 'umg_fallbacks_total',
    type: 'counter',
    help: 'Fallbacks of a call to a curated model from one target to the next, by the error of the first.',
    labels: ['namespace', 'model', 'from', 'to', 'reason'],
  },
  namespaceLimited: {
    name: 'umg_namespace_limited_total',
    type: 'counter',
    help: 'Times that a target was skipped because a limit of its namespace was reached.',
    labels: ['namespace', 'limit'],
  },
  targetsSkipped: {
    name: 'umg_targets_skipped_total',
    type: 'counter',
    help: 'Targets that calls skipped, by the reason: cooling_down, or the name of an error, such as upstream_circuit_open.',
    labels: ['namespace', 'reason'],
  },
  circuitState: {
    name: 'umg_circuit_state',
    type: 'gauge',
    help: '1 for the state of the circuit breaker of a target: closed, open or half_open. The model * stands for the connections of all models that the routing table does not name.',
    labels: ['namespace', 'model', 'state'],
    across: 'max',
  },
  targetCooldown: {
    name: 'umg_target_cooldown_seconds',
    type: 'gauge',
    help: 'Seconds until a target that refused a call is tried in its turn again, by the account that waits longest; until then it is tried last. 0 if it is not cooling down.',
    labels: ['namespace', 'model'],
    across: 'max',
  },
  credentialCooldown: {
    name: 'umg_credential_cooldown_seconds',
    type: 'gauge',
    help: 'Seconds until a credential that the upstream refused is used in its turn again, by the account that waits longest, of namespaces with several. 0 if it is not cooling down.',
    labels: ['namespace', 'credential'],
    across: 'max',
  },
  overhead: {
    name: 'umg_overhead_seconds',
    type: 'histogram',
    help: 'Time spent in the gateway itself, of calls that reached an upstream.',
    labels: ['stream'],
    buckets: SECONDS_INSIDE,
  },
  pluginDuration: {
    name: 'umg_plugin_duration_seconds',
    type: 'histogram',
    help: 'Time of a plugin itself, without the links and the upstream that it calls.',
    labels: ['plugin', 'phase'],
    buckets: SECONDS_IN_A_PLUGIN,
  },
  pluginErrors: {
    name: 'umg_plugin_errors_total',
    type: 'counter',
    help: 'Times a plugin threw or timed out.',
    labels: ['plugin', 'phase'],
  },
  streamAborts: {
    name: 'umg_stream_aborts_total',
    type: 'counter',
    help: 'Streams that ended early, by the side that ended them.',
    labels: ['side'],
  },
  configInfo: {
    name: 'umg_config_info',
    type: 'gauge',
    help: 'Always 1: the routing table in use, by the SHA-256 of its text.',
    labels: ['sha256'],
    across: 'max',
  },
  configReloads: {
    name: 'umg_config_reloads_total',
    type: 'counter',
    help: 'Reloads of the routing table, by result: success or failure.',
    labels: ['result'],
  },
  configLastReloadSuccessful: {
    name: 'umg_config_last_reload_successful',
    type: 'gauge',
    help: '1 if the last reload of the routing table succeeded; 0 if it failed and the previous table stays in use.',
    labels: [],
    // Proxies build only tables that control has accepted.
    across: 'min',
  },
  configLastReloadSuccess: {
    name: 'umg_config_last_reload_success_timestamp_seconds',
    type: 'gauge',
    help: 'Time at which the routing table in use was loaded, in seconds since 1970.',
    labels: [],
    across: 'max',
  },
  configGenerations: {
    name: 'umg_config_generations',
    type: 'gauge',
    help: 'Versions of the routing table that serve calls: the one in use, and older ones until their last call ends.',
    labels: [],
    across: 'max',
  },
  buildInfo: {
    name: 'umg_build_info',
    type: 'gauge',
    help: 'Always 1: the versions of the gateway and of Node.',
    labels: ['version', 'node'],
    across: 'max',
  },
  sockets: {
    name: 'umg_sockets_open',
    type: 'gauge',
    help: 'WebSockets of clients that are open.',
    labels: [],
  },
  socketTurns: {
    name: 'umg_socket_turns_total',
    type: 'counter',
    help: 'Calls on WebSockets.',
    labels: [],
  },
  socketCloses: {
    name: 'umg_socket_closes_total',
    type: 'counter',
    help: 'WebSockets that were closed, by the code of RFC 6455 with which the gateway or the client did it; 1006 if the connection was lost, other for codes of the client.',
    labels: ['code'],
  },
  shed: {
    name: 'umg_shed_total',
    type: 'counter',
    help: 'Requests and connections refused because a limit of this process was reached.',
    labels: ['reason'],
  },
  workerQueueSize: {
    name: 'umg_worker_queue_size',
    type: 'gauge',
    help: 'Tasks that wait for a worker thread.',
    labels: [],
  },
  processRestarts: {
    name: 'umg_process_restarts_total',
    type: 'counter',
    help: 'Processes of the gateway that ended and were replaced, by role: proxy or control.',
    labels: ['role'],
  },
  usageWriteFailures: {
    name: 'umg_usage_write_failures_total',
    type: 'counter',
    help: 'Times that usage rows could not be written, by the error. They wait, and are written again.',
    labels: ['error'],
  },
  journalLinesDamaged: {
    name: 'umg_journal_lines_damaged_total',
    type: 'counter',
    help: 'Lines of journals of ended processes that could not be read: their calls may have no rows.',
    labels: [],
  },
  journalLinesLost: {
    name: 'umg_journal_lines_lost_total',
    type: 'counter',
    help: 'Lines of this journal that could not be written, and had no room in memory: their calls have no rows if the process is killed.',
    labels: [],
  },
  journalsUnreadable: {
    name: 'umg_journals_unreadable_total',
    type: 'counter',
    help: 'Journals of ended processes that could not be opened. They are tried again; until then their calls may have no rows.',
    labels: [],
  },
  usageRowsDropped: {
    name: 'umg_usage_rows_dropped_total',
    type: 'counter',
    help: 'Calls without a usage row, because the database was unavailable for too long.',
    labels: [],
  },
  traceSpans: {
    name: 'umg_trace_spans_total',
    type: 'counter',
    help: 'Spans of calls that are traced, by result: exported, failed or dropped.',
    labels: ['result'],
  },
  metricsOverflow: {
    name: 'umg_metrics_overflow_total',
    type: 'counter',
    help: 'Values counted under the label value other because their metric has reached its limit of series.',
    labels: ['metric'],
  },
} as const satisfies Record<string, MetricShape>

/** The metrics and labels of the conventions in OpenTelemetry's spelling, with the units of the metrics. */
export const CONVENTION_NAMES: {
  readonly metrics: Readonly<Partial<Record<string, { readonly name: string; readonly unit: string }>>>
  readonly labels: Readonly<Record<string, string>>
} = {
  metrics: {
    [METRICS.requestDuration.name]: { name: 'gen_ai.server.request.duration', unit: 's' },
    [METRICS.timeToFirstToken.name]: { name: 'gen_ai.server.time_to_first_token', unit: 's' },
    [METRICS.timePerOutputToken.name]: { name: 'gen_ai.server.time_per_output_token', unit: 's' },
    [METRICS.operationDuration.name]: { name: 'gen_ai.client.operation.duration', unit: 's' },
    [METRICS.tokenUsage.name]: { name: 'gen_ai.client.token.usage', unit: '{token}' },
  },
  labels: {
    [OPERATION]: 'gen_ai.operation.name',
    [PROVIDER]: 'gen_ai.provider.name',
    [REQUEST_MODEL]: 'gen_ai.request.model',
    [RESPONSE_MODEL]: 'gen_ai.response.model',
    [TOKEN_TYPE]: 'gen_ai.token.type',
    [ERROR_TYPE]: 'error.type',
  },
}

/** The types of metrics. */
export type MetricType = 'counter' | 'gauge' | 'histogram'

/** The definition of a metric. All declarations of one name must have the same type and buckets; the metric has the labels of all of them. */
export interface MetricShape<Type extends MetricType = MetricType> {
  readonly name: string
  readonly type: Type
  readonly help: string
  /** Label names, in the order of their values. */
  readonly labels: readonly string[]
  /** Upper bounds of a histogram's buckets, rising, without `+Inf`. */
  readonly buckets?: readonly number[]
  /** How the gauges of several processes become one; absent: their sum. */
  readonly across?: 'max' | 'min'
}

// Stricter than Prometheus, which also accepts a leading underscore and colons: its own names and those of recording rules have them.
const NAME = /^[a-zA-Z][a-zA-Z0-9_]*$/

/** Throws an Error that says what is wrong with a metric that Prometheus cannot scrape. */
export function checkShape({ name, type, labels, buckets }: MetricShape): void {
  const refuse = (reason: string): never => {
    throw new Error(`metric ${JSON.stringify(name)}: ${reason}`)
  }
  if (!NAME.test(name)) refuse('a metric name is letters, digits and _, and starts with a letter')
  for (const label of labels) {
    if (!NAME.test(label)) refuse(`the label name ${JSON.stringify(label)} must be letters, digits and _, starting with a letter`)
    if (type === 'histogram' && label === 'le') refuse("the label 'le' belongs to the histogram's own buckets")
  }
  if (new Set(labels).size < labels.length) refuse('a label name occurs twice')
  if (type === 'histogram' && !areBounds(buckets))
    refuse('buckets must be finite numbers, at least one, each greater than the one before')
}

/** Whether two declarations of one name can be the same metric. */
export function isSameKind(a: MetricShape, b: MetricShape): boolean {
  return a.type === b.type && isSameList(a.buckets ?? [], b.buckets ?? [])
}

function areBounds(buckets: readonly number[] = []): boolean {
  return (
    buckets.length > 0 && buckets.every((bound, index) => Number.isFinite(bound) && !(bound <= (buckets[index - 1] ?? -Infinity)))
  )
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}
