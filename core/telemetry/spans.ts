import { type Attributes, createTraceState, type HrTime, type SpanContext, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { OPERATIONS } from '../observe/call-metrics.ts'
import { plainEndpoint } from '../protocol/endpoints/plain-endpoints.ts'
import type { AttemptRecord, Outcome } from '../sdk/api.ts'
import type { CallsTable } from '../store/schema.ts'
import { NANO_USD } from '../text/money.ts'
import type { TraceRecord } from './call-trace.ts'
import type { Origin } from './origin.ts'

/** A call that has ended, with its trace. */
export interface TracedCall {
  readonly row: CallsTable
  readonly trace: TraceRecord
}

/** What distinguishes one span of a call from another. Times are microseconds since 1970. */
interface SpanParts extends Pick<ReadableSpan, 'name' | 'kind' | 'attributes'> {
  readonly spanId: string
  readonly parent: SpanContext | undefined
  readonly from: number
  readonly to: number
  readonly isFailure: boolean
  readonly events: readonly { readonly name: string; readonly at: number; readonly attributes?: Attributes }[]
}

/** The names of providers in OpenTelemetry's conventions, where they differ from those of plugins. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'azure-openai': 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  'openai-compatible': 'openai',
  vertex: 'gcp.vertex_ai',
}

/** The number of spans of a call. */
export const countSpans = ({ trace }: TracedCall): number => 1 + trace.attempts.length

/**
 * The spans of a call: one of kind server for the call, one of kind client for each attempt. Names and attributes follow OpenTelemetry's
 * conventions for HTTP and for generative AI, and are the gateway's own, `umg.*`, for what these do not know.
 */
export function spansOf(call: TracedCall, origin: Origin): ReadableSpan[] {
  const attempts = JSON.parse(call.row.attempts) as readonly AttemptRecord[]
  const spans = [serverSpan(call, attempts), ...attempts.map((attempt, index) => clientSpan(call, attempt, index))]
  return spans.map((parts) => readableSpan(call.trace, parts, origin))
}

/** The method and path of an endpoint, by its name; those of one model are of the list too. */
const routeOf = (endpoint: string): { readonly method: string; readonly path: string } =>
  plainEndpoint(endpoint) ?? { method: 'POST', path: `/v1/${endpoint.replaceAll('.', '/')}` }

function serverSpan({ row, trace }: TracedCall, attempts: readonly AttemptRecord[]): SpanParts {
  const { method, path } = routeOf(row.endpoint)
  const from = row.at * 1000
  const firstToken = row.first_byte_us === null ? [] : [{ name: 'umg.first_token', at: from + row.first_byte_us }]
  return {
    name: `${method} ${path}`,
    kind: SpanKind.SERVER,
    spanId: trace.spanId,
    parent: trace.parentId === undefined ? undefined : { ...contextOf(trace, trace.parentId), isRemote: true },
    from,
    to: from + row.total_us,
    isFailure: row.fault === 'upstream' || row.fault === 'gateway',
    attributes: withoutNull({
      'http.request.method': method,
      'http.route': path,
      'http.response.status_code': row.status,
      'error.type': row.error ?? (row.outcome === 'ok' ? null : row.outcome),
      'umg.request.id': row.id,
      'umg.account.id': row.account_id,
      'umg.key.id': row.key_id,
      'umg.request.model': row.model,
      'umg.outcome': row.outcome,
      'umg.attempts': attempts.length,
      'umg.overhead': row.overhead_us / 1e6,
      'umg.cost.usd': row.cost === null ? null : row.cost / NANO_USD,
      ...tagsOf(row),
    }),
    events: [...attempts.slice(1).map((attempt, index) => nextAttempt(from, attempts[index]!, attempt)), ...firstToken],
  }
}

const tagsOf = ({ tags }: CallsTable): Attributes =>
  Object.fromEntries(Object.entries(JSON.parse(tags) as Record<string, string>).map(([tag, value]) => [`umg.tag.${tag}`, value]))

/** An attempt at another target is a fail-over, one at the same target a retry. */
function nextAttempt(from: number, failed: AttemptRecord, next: AttemptRecord): SpanParts['events'][number] {
  const [before, after] = [targetOf(failed), targetOf(next)]
  return {
    name: before === after ? 'umg.retry' : 'umg.fail_over',
    at: from + microseconds(next.start),
    attributes: { 'umg.from': before, 'umg.to': after, 'error.type': failed.result },
  }
}

const targetOf = ({ namespace, model }: AttemptRecord): string => `${namespace}/${model}`

function clientSpan({ row, trace }: TracedCall, attempt: AttemptRecord, index: number): SpanParts {
  const operation = OPERATIONS[row.endpoint as Outcome['endpoint']]
  const { namespace, model, provider, credential, result } = attempt
  const from = row.at * 1000 + microseconds(attempt.start)
  const hasServed = result === 'ok' && index === trace.attempts.length - 1
  return {
    name: `${operation ?? row.endpoint} ${model}`,
    kind: SpanKind.CLIENT,
    spanId: trace.attempts[index]!,
    parent: contextOf(trace, trace.spanId),
    from,
    to: from + microseconds(attempt.ms),
    isFailure: result !== 'ok' && result !== 'client_closed',
    attributes: withoutNull({
      'gen_ai.operation.name': operation ?? null,
      'gen_ai.provider.name': PROVIDERS[provider] ?? provider,
      'gen_ai.request.model': model,
      'gen_ai.request.stream': row.stream === 1 ? true : null,
      'gen_ai.response.time_to_first_chunk':
        hasServed && row.first_byte_us !== null ? (row.first_byte_us - microseconds(attempt.start)) / 1e6 : null,
      'error.type': result === 'ok' ? null : result,
      'umg.namespace': namespace,
      'umg.provider': provider,
      'umg.credential': credential ?? null,
      'umg.attempt': index + 1,
      ...(trace.charged === index && usageOf(row)),
      ...(index === trace.attempts.length - 1 && contentOf(trace)),
    }),
    events: [],
  }
}

const usageOf = (row: CallsTable) => ({
  'gen_ai.usage.input_tokens': row.input_tokens,
  'gen_ai.usage.output_tokens': row.output_tokens,
  'gen_ai.usage.cache_read.input_tokens': row.cached_tokens,
  'gen_ai.usage.reasoning.output_tokens': row.reasoning_tokens,
  'umg.usage.estimated': row.estimated === 1,
})

const contentOf = ({ content }: TraceRecord) => ({
  'gen_ai.input.messages': content?.input ?? null,
  'gen_ai.output.messages': content?.output ?? null,
  'umg.content.truncated': content?.isCut ? true : null,
})

const microseconds = (ms: number): number => Math.round(ms * 1000)

const withoutNull = (attributes: Readonly<Record<string, Attributes[string] | null>>): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null)) as Attributes

const SAMPLED = 1

function contextOf({ traceId, state }: TraceRecord, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: SAMPLED, ...(state !== undefined && { traceState: createTraceState(state) }) }
}

function readableSpan(trace: TraceRecord, parts: SpanParts, origin: Origin): ReadableSpan {
  const { name, kind, attributes, spanId, parent, from, to, isFailure, events } = parts
  const context = contextOf(trace, spanId)
  return {
    resource: origin.resource,
    instrumentationScope: origin.scope,
    name,
    kind,
    spanContext: () => context,
    ...(parent && { parentSpanContext: parent }),
    startTime: timeOf(from),
    endTime: timeOf(to),
    duration: timeOf(to - from),
    status: { code: isFailure ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes,
    events: events.map(({ at, ...event }) => ({ ...event, time: timeOf(at) })),
    links: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

/** Seconds and nanoseconds. */
const timeOf = (microseconds: number): HrTime => [Math.floor(microseconds / 1e6), Math.round(microseconds % 1e6) * 1000]
