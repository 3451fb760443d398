import type { RetryCause } from '../../../core/config/schema/retry-causes.ts'
import { ModelDiscovery } from '../../../core/routing/discovery.ts'
import { Handlers } from '../../../core/routing/handler.ts'
import { type Namespace, RoutingTable } from '../../../core/routing/table.ts'
import { UpstreamState } from '../../../core/routing/upstream-state.ts'
import type { LocalReply, ParameterTable, Provider, UpstreamRequest } from '../../../core/sdk/api.ts'
import { UNWATCHED } from '../routing/routes.ts'
import { type Case, curatedOf, UPSTREAMS } from './random-tables.ts'

const LOG = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** The parameters of the upstreams: the first passes all on, the second drops one, the third refuses one. */
const PARAMETERS: Readonly<Record<(typeof UPSTREAMS)[number], ParameterTable>> = {
  one: 'verbatim',
  two: {
    temperature: { support: 'mapped', to: 'temperature' },
    seed: { support: 'dropped' },
    logprobs: { support: 'mapped', to: 'logprobs' },
  },
  three: {
    temperature: { support: 'mapped', to: 'temperature' },
    seed: { support: 'mapped', to: 'seed' },
    logprobs: { support: 'refused' },
  },
}

const NOTHING = { allowed: [], own: [] }

/** The routing table of a case, with upstreams that fail as the case says. `closed`: an origin without a listener. */
export function tableOf(each: Case, closed: string): RoutingTable {
  const namespaces = UPSTREAMS.map((name): [string, Namespace] => {
    const provider = providerOf(name, each, closed)
    const state = new UpstreamState(name, { breaker: true }, UNWATCHED)
    const handlers = new Handlers(provider)
    const upstream = each.dormant.has(name) ? undefined : { name, provider, handlers, state, fetches: NOTHING }
    const catalogue = new ModelDiscovery([], LOG)
    return [
      name,
      {
        name,
        upstream,
        models: undefined,
        timeouts: TIMEOUTS,
        testKeys: 'sandbox',
        keptObjects: 'refuse',
        keepReasoning: true,
        sticky: 'session',
        catalogue,
      },
    ]
  })
  const sandboxed = providerOf('one', each, closed)
  const sandbox = {
    name: 'sandbox',
    provider: sandboxed,
    handlers: new Handlers(sandboxed),
    state: new UpstreamState('sandbox', { breaker: false }, UNWATCHED),
    fetches: NOTHING,
  }
  return new RoutingTable({ namespaces: new Map(namespaces), curated: curatedOf(each).curated, aliases: new Map(), sandbox })
}

/** Replies stall only after their head: only the idle timeout is short. */
const TIMEOUTS = { connect: 10_000, firstByte: 10_000, idle: 15, total: 60_000 }

function providerOf(name: (typeof UPSTREAMS)[number], { failing }: Case, closed: string): Provider {
  return {
    parameters: PARAMETERS[name],
    request(_, { model }) {
      const cause = failing.get(`${name}/${model}`) ?? failing.get(name)
      return cause === undefined ? GOOD : FAILURES[cause](closed)
    },
  }
}

const GOOD: LocalReply = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: [
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'any',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  ],
}

const refusal = (status: number, headers: Readonly<Record<string, string>> = {}): LocalReply => ({
  status,
  headers,
  body: ['{"error":{"message":"no"}}'],
})

/** The reply, or the request, that causes each failure. */
const FAILURES: Readonly<Record<RetryCause, (closed: string) => LocalReply | UpstreamRequest>> = {
  connect: (closed) => ({ origin: closed, path: '/', headers: {}, body: '{}' }),
  timeout: () => ({ ...GOOD, body: stalled() }),
  disconnected: () => ({ ...GOOD, body: cut() }),
  invalid_response: () => ({ status: 200, headers: { 'content-length': '2' }, body: ['{}'] }),
  '429': () => refusal(429, { 'retry-after-ms': '1' }),
  '5xx': () => refusal(500),
  credential: () => refusal(401),
  not_found: () => refusal(404),
}

async function* stalled(): AsyncGenerator<string> {
  yield '{"id":'
  await new Promise<never>(() => undefined)
}

function* cut(): Generator<string> {
  yield '{"id":'
  throw new Error('cut')
}
