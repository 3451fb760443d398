import type { TracingSettings } from '../../../core/telemetry/trace-settings.ts'
import { json, type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { OtlpCollector } from '../../support/otlp-collector.ts'
import { ask, hello } from '../plugins/openai-wire.ts'
import { adminClient } from '../usage/api-client.ts'

/** The trace of a client, and its span: those of the examples in W3C's recommendation. */
export const CLIENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }

/** The header of a client that has sampled its trace, or has not. */
export const traceparent = (traceId = CLIENT.traceId, flags = '01'): string => `00-${traceId}-${CLIENT.spanId}-${flags}`

/** A new trace id of a client. */
export const newTraceId = (): string => crypto.randomUUID().replaceAll('-', '')

/** A gateway whose calls are traced, its collector, and an upstream. */
export interface Fixture {
  readonly gateway: TestGateway
  readonly collector: OtlpCollector
  readonly upstream: ScriptedUpstream
  /** Sends a call. Resolves to its reply, which is read, and to the request id. */
  call(body?: object, options?: { readonly headers?: Readonly<Record<string, string>>; readonly key?: string }): Promise<Called>
  /** The row of a call. */
  row(id: string): Promise<CallView>
  stop(): Promise<void>
}

interface Called {
  readonly id: string
  readonly status: number
}

interface FixtureOptions extends Partial<Pick<TracingSettings, 'sampling' | 'contentLimit'>> {
  /** The chain after rate-tagging. */
  readonly links?: readonly { readonly plugin: string }[]
  /** Local plugins. */
  readonly files?: Readonly<Record<string, string>>
}

const CLASSES = { many: {}, few: { requests: '1/day' } }

/** `acme/m` fails over from `bad/m` to `up/m`; `acme/one` has no other target than `up/m`. */
export async function startFixture({
  sampling = { ratio: 1, isParentBased: true },
  contentLimit,
  links = [],
  files = {},
}: FixtureOptions = {}): Promise<Fixture> {
  await using opened = new AsyncDisposableStack()
  const collector = opened.adopt(await OtlpCollector.start(), (each) => each.close())
  const upstream = opened.adopt(await scriptedUpstream(), (each) => each.close())
  upstream.on((request) =>
    request.path.startsWith('/bad') ? json({ error: { message: 'no' } }, { status: 500 }) : hello(request),
  )
  const at = (path: string) => ({
    provider: 'openai-compatible',
    breaker: false,
    config: { baseUrl: `${upstream.origin}${path}` },
  })
  const gateway = await startTestGateway({
    tracing: { url: `${collector.origin}/v1/traces`, sampling, delayMs: 0, ...(contentLimit !== undefined && { contentLimit }) },
    files,
    routes: {
      chain: [{ plugin: 'auth' }, { plugin: 'rate-tagging', config: { classes: CLASSES, default: 'many' } }, ...links],
      namespaces: {
        up: at('/v1'),
        bad: at('/bad/v1'),
        acme: {
          models: {
            m: { targets: [{ model: 'bad/m' }], fallbacks: ['up/m'] },
            one: { targets: [{ model: 'up/m' }] },
          },
        },
      },
    },
  })
  opened.defer(() => gateway.stop())
  const admin = await adminClient(gateway)
  const all = opened.move()
  return {
    gateway,
    collector,
    upstream,
    async call(body = {}, options = {}) {
      const reply = await gateway.fetch('/v1/chat/completions', { json: ask(body), ...options })
      await reply.text()
      return { id: reply.headers.get('x-request-id')!, status: reply.status }
    },
    async row(id) {
      await gateway.logged((line) => line.id === id)
      return (await admin.get(`/requests/${id}`)).json as CallView
    },
    stop: () => all.disposeAsync(),
  }
}

/** The context that an upstream got with a request. */
export function contextOf({ headers }: ReceivedRequest): {
  readonly traceId: string
  readonly spanId: string
  readonly flags: string
} {
  const [, traceId = '', spanId = '', flags = ''] = String(headers.traceparent).split('-')
  return { traceId, spanId, flags }
}
