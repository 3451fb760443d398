// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { createSecret } from '../../../core/keys/format.ts'
import { json, type ScriptedUpstream, type Step, scriptedUpstream } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { response } from '../responses/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'

/** A refusal that a tenant meets. Texts are those of vendors. */
interface Refusal {
  readonly name: string
  readonly status: number
  readonly error?: { readonly message?: string; readonly code?: string; readonly type?: string }
  /** For whom the upstream is then tried last: the account that met it, all accounts, or none, since the request is to blame. */
  readonly coolsFor: 'one' | 'all' | 'none'
  /** Whether the credential is not refused: then it still serves responses that it keeps. */
  readonly spares?: true
}

const REFUSALS: readonly Refusal[] = [
  { name: '401', status: 401, coolsFor: 'all' },
  { name: '401 with an echo of the prompt', status: 401, error: { message: 'flagged: request too large' }, coolsFor: 'all' },
  { name: '402 without words', status: 402, coolsFor: 'one' },
  { name: '402, no balance', status: 402, error: { message: 'Insufficient Balance' }, coolsFor: 'all' },
  {
    name: '402, fewer max_tokens',
    status: 402,
    error: {
      message:
        'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 12.',
    },
    coolsFor: 'none',
  },
  { name: '403 without words', status: 403, coolsFor: 'one' },
  { name: '403, key disabled', status: 403, error: { message: 'Your API key has been disabled.' }, coolsFor: 'all' },
  { name: '403, limit of the key', status: 403, error: { message: 'Key limit exceeded (total limit).' }, coolsFor: 'all' },
  {
    name: '403, an API key in a quotation',
    status: 403,
    error: { message: 'The model "my API key is disabled" is not available in your region.' },
    coolsFor: 'one',
  },
  {
    name: '403, flagged input',
    status: 403,
    error: { message: 'google/gemini requires moderation. Your input was flagged for "API key". No credits were used.' },
    coolsFor: 'none',
  },
  {
    name: '403, usage guidelines',
    status: 403,
    error: { message: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO' },
    coolsFor: 'none',
  },
  {
    name: '413, tokens of one request',
    status: 413,
    error: { message: 'Request too large for model `x` on tokens per minute.', type: 'tokens', code: 'rate_limit_exceeded' },
    coolsFor: 'none',
  },
  { name: '429 without words', status: 429, coolsFor: 'one' },
  {
    name: '429, requests per minute',
    status: 429,
    error: {
      message: 'Rate limit reached for x on requests per min (RPM): Limit 3, Used 3. Add a payment method to your account.',
    },
    coolsFor: 'one',
  },
  {
    name: '429, request too large',
    status: 429,
    error: {
      message:
        'Request too large for x on tokens per min (TPM): Limit 30000, Requested 70000. The input or output tokens must be reduced in order to run successfully.',
      code: 'rate_limit_exceeded',
    },
    coolsFor: 'none',
  },
  { name: '429, quota of the account', status: 429, error: { code: 'insufficient_quota' }, coolsFor: 'all' },
  { name: '503', status: 503, coolsFor: 'one', spares: true },
]

const ACCOUNTS = ['ann', 'ben', 'cat'] as const
type Account = (typeof ACCOUNTS)[number]
const SECRETS = Object.fromEntries(ACCOUNTS.map((account) => [account, createSecret('live')])) as Record<Account, string>

const ENV = { KEY_A: 'key-of-a', KEY_B: 'key-of-b' }
const CREDENTIALS = { a: { apiKey: '${env:KEY_A}' }, b: { apiKey: '${env:KEY_B}' } }

/** Whether a namespace has several credentials, and whether routes.yaml names the model. */
const WAYS = [
  { name: 'one credential, a curated model', several: false, isNamed: true },
  { name: 'several credentials, a curated model', several: true, isNamed: true },
  { name: 'several credentials, a model that routes.yaml does not name', several: true, isNamed: false },
] as const

describe('What an upstream refuses one tenant', () => {
  let upstream: ScriptedUpstream
  let spare: ScriptedUpstream
  let gateway: TestGateway
  /** What the upstream answers to calls that say `refuse me`. */
  let refusing: () => Step[]

  const everyCase = REFUSALS.flatMap((refusal) => WAYS.map((way) => ({ refusal, way })))

  before(async () => {
    upstream = await scriptedUpstream()
    spare = await scriptedUpstream()
    upstream.on(({ path, body }) => {
      if (body.includes('refuse me')) return refusing()
      return json(path.endsWith('/responses') ? response('Hi') : openai.whole({ text: ['Hi'] }))
    })
    spare.on(() => json(openai.whole({ text: ['spare'] })))
    const at = ({ origin }: ScriptedUpstream, more: object = {}) => ({
      provider: 'openai-compatible',
      config: { baseUrl: `${origin}/v1`, responses: true },
      ...more,
    })
    gateway = await startTestGateway({
      env: ENV,
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: 'header-stamping' }],
        namespaces: {
          spare: at(spare),
          ...Object.fromEntries(
            everyCase.flatMap(({ way: { several } }, number) => [
              [`vendor-${number}`, at(upstream, several ? { credentials: CREDENTIALS } : {})],
              [`acme-${number}`, { models: { smart: { targets: [{ model: `vendor-${number}/m` }], fallbacks: ['spare/m'] } } }],
            ]),
          ),
        },
        accounts: Object.fromEntries(ACCOUNTS.map((account) => [account, {}])),
        keys: ACCOUNTS.map((account) => ({
          name: account,
          account,
          kind: 'live',
          hash: `sha256:${digestOf(SECRETS[account])}`,
          models: ['*'],
        })),
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await Promise.all([upstream?.close(), spare?.close()])
  })

  /** Calls in the name of an account. Resolves to the namespace that served it, or to the status. */
  async function call(account: Account, model: string, content: string): Promise<string> {
    const reply = await gateway.fetch('/v1/chat/completions', {
      key: SECRETS[account],
      json: { model, messages: [{ role: 'user', content }] },
    })
    await reply.body?.cancel()
    return reply.status === 200 ? reply.headers.get('x-umg-namespace')!.split('-')[0]! : String(reply.status)
  }

  /** Goes on from a response that the upstream keeps, or begins with one. */
  async function respond(account: Account, model: string, previous?: string): Promise<{ status: number; id: string }> {
    const json = { model, input: 'Hi', ...(previous !== undefined && { previous_response_id: previous }) }
    const reply = await gateway.fetch('/v1/responses', { key: SECRETS[account], json })
    const { id = '' } = (await reply.json()) as { readonly id?: string }
    return { status: reply.status, id }
  }

  for (const [number, { refusal, way }] of everyCase.entries()) {
    const { name, status, error = {}, coolsFor, spares = false } = refusal
    it(`concerns ${{ one: 'its account', all: 'all accounts', none: 'its request' }[coolsFor]}: ${name} (${way.name})`, async () => {
      const body = { error: { message: 'No.', type: 'x', param: null, code: null, ...error } }
      refusing = () => json(body, { status, headers: { 'retry-after': '50' } })
      const model = `vendor-${number}/${way.isNamed ? 'm' : 'made-up'}`
      const route = `acme-${number}/smart`
      const asks = way.isNamed ? route : model
      const kept = way.several ? await respond('ann', model) : undefined
      await call('ben', asks, 'refuse me')
      const served = async (account: Account): Promise<string> =>
        way.isNamed ? call(account, route, 'Hi') : call(account, model, 'Hi')
      const goesOn = async (): Promise<number | undefined> => kept && (await respond('ann', model, kept.id)).status

      const others = coolsFor === 'all' ? 'spare' : 'vendor'
      if (way.isNamed)
        expect([await served('ben'), await served('ann')]).to.deep.equal([coolsFor === 'none' ? 'vendor' : 'spare', others])
      expect(await goesOn()).to.equal(kept && (coolsFor === 'all' ? 503 : 200))

      if (coolsFor === 'one') {
        await call('cat', asks, 'refuse me')
        if (way.isNamed) expect(await served('ann'), 'once a second account has met it').to.equal('spare')
        expect(await goesOn(), 'once a second account has met it').to.equal(kept && (spares ? 200 : 503))
      }
    })
  }
})
