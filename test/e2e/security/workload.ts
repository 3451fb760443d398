// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { createSecret } from '../../../core/keys/format.ts'
import { createKey, revokeKey } from '../../../core/keys/keys.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { modelOf } from '../sdk/dialect.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { Calls, type ClientKeys } from './calls.ts'
import { repliesOf } from './echoing-upstreams.ts'
import { refusedCalls } from './refused-calls.ts'

/** The operator's secrets. The upstreams' have the shapes that theirs have; the others everything that encodings change. */
const SECRETS = {
  OPEN_KEY: 'sk-proj-canaryOpenQ7wE2rT9yU4iO1pA6sD3fG8hJ5kL2zX9c',
  CLAUDE_KEY: 'sk-ant-api03-canaryClaudeM4nB7vC1xZ6lK9jH3gF8dS5aP2o',
  HEADER_VALUE: 'canary "header/+ of=the&table" 3',
  METRICS_TOKEN: 'canary"metrics/+token\\4',
}

/** A link that breaks down, and says all it knows while it does. */
const UNRULY = `
import { defineChain, GatewayError, Type } from 'unified-model-gateway/plugin'

const faults = {
  throw: (told) => new Error(told),
  'throw late': (told) => Object.assign(new Error(told), { code: told }),
  refuse: (told) => new GatewayError('request_refused', { values: { detail: 'No.' }, cause: told }),
}

export default defineChain({
  apiVersion: 1,
  name: 'unruly',
  schema: Type.Object({}),
  create: () => ({
    async handle(ctx, next) {
      const name = ctx.get('x-fault')
      if (name === 'throw late') await next()
      if (name !== '') throw faults[name](JSON.stringify(ctx.req.rawHeaders))
      await next()
    },
  }),
})
`

/** A gateway all of whose secrets are canaries, and what has come out of it. */
export interface Workload {
  readonly gateway: TestGateway
  readonly secrets: Readonly<Record<string, string>>
  /** Every byte of every reply. */
  readonly replies: string
  stop(): Promise<void>
}

/** Starts the gateway, and sends it calls that go well and calls that fail in every way there is. */
export async function runWorkload(): Promise<Workload> {
  await using opened = new AsyncDisposableStack()
  const open = opened.adopt(await scriptedUpstream(), (all) => all.close())
  const claude = opened.adopt(await scriptedUpstream(), (all) => all.close())
  const gateway = opened.adopt(await startCanaryGateway(open, claude), (all) => all.stop())
  const keys = await makeKeys(gateway)
  const calls = new Calls(gateway.url, keys)
  for (const [dialect, upstream] of [
    [openai, open],
    [anthropic, claude],
  ] as const) {
    for (const stream of [false, true]) {
      for (const script of repliesOf(dialect, stream)) {
        upstream.on(script)
        await calls.ask({ model: modelOf(dialect), members: { stream } })
      }
    }
  }
  for (const path of ['/v1/models', '/v1/models/open%2Fx']) await calls.ask({ requestLine: `GET ${path} HTTP/1.1` })
  for (const asked of refusedCalls(keys, SECRETS.METRICS_TOKEN)) await calls.ask(asked)
  await calls.ask({ requestLine: 'POST /v1/embeddings HTTP/1.1', body: '{"model":"claude/x","input":"Hi"}' })
  await calls.send(`${keys.live}\r\n\r\n`)
  await gateway.store.db.schema.dropTable('keys').execute()
  await calls.ask({ key: createSecret('live') })
  const all = opened.move()
  return {
    gateway,
    secrets: { ...SECRETS, ...keys },
    replies: calls.replies.join('\n'),
    stop: () => all.disposeAsync(),
  }
}

async function startCanaryGateway(open: ScriptedUpstream, claude: ScriptedUpstream): Promise<TestGateway> {
  const classes = { free: {}, few: { requests: '1/day' }, short: { tokens: '1/day' } }
  const apiKey = '${env:OPEN_KEY}'
  const headers = { 'x-org': '${env:HEADER_VALUE}' }
  // Upstreams fail here again and again.
  const breaker = false
  return startTestGateway({
    env: SECRETS,
    metricsToken: SECRETS.METRICS_TOKEN,
    files: { 'unruly.ts': UNRULY },
    routes: {
      chain: [
        { plugin: 'auth' },
        { plugin: 'rate-tagging', config: { classes, default: 'free' } },
        { plugin: 'header-stamping' },
        { plugin: './unruly.ts' },
      ],
      namespaces: {
        open: { provider: 'openai-compatible', breaker, config: { baseUrl: `${open.origin}/v1`, apiKey, headers } },
        claude: { provider: 'anthropic', breaker, config: { baseUrl: claude.origin, apiKey: '${env:CLAUDE_KEY}' } },
        stalled: { provider: 'sandbox', timeouts: { firstByte: '50ms' } },
        curated: { provider: 'sandbox', models: ['named'] },
        gone: { provider: 'openai-compatible', breaker, config: { baseUrl: await closedOrigin(), apiKey } },
      },
    },
  })
}

async function makeKeys({ store, liveKey, testKey, key }: TestGateway): Promise<ClientKeys> {
  const revoked = await createKey(store, { name: 'revoked', kind: 'live' })
  await revokeKey(store, revoked.key.id)
  const expired = await createKey(store, { name: 'expired', kind: 'live' })
  await store.db.updateTable('keys').set({ expires_at: 1 }).where('id', '=', expired.key.id).execute()
  const disabled = await createKey(store, { name: 'disabled', kind: 'live' })
  await store.db.updateTable('keys').set({ disabled_at: 1 }).where('id', '=', disabled.key.id).execute()
  return {
    live: liveKey,
    test: testKey,
    few: await key({ rateClass: 'few' }),
    short: await key({ rateClass: 'short' }),
    revoked: revoked.secret,
    expired: expired.secret,
    disabled: disabled.secret,
    unknown: createSecret('live'),
  }
}
