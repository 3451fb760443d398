import { expect } from 'chai'
import { editAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ATTACKS, type Attack, type DearUpstream, dearUpstream, ENDS, PRICES, REPLACED, SAID, STREAMED } from './attacks.ts'

/** US dollars per day, as much as the dearest of the calls and as little as a few of the cheapest. */
const BUDGETS = [0.2, 4]
/** Calls at once. */
const AT_ONCE = 5

/** Those of streams, of which the larger one pays for a book in the prompt. */
const STREAM_BUDGETS = [0.2, 6]
/** Of two calls at once. */
const ROUNDS = 2
/** US dollars: of the sums here. */
const ROUNDING = 1e-9

function formOf(body: Attack['body']): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) {
    const values = Array.isArray(value) ? value : [value]
    for (const each of values) form.append(values.length > 1 ? `${name}[]` : name, each instanceof File ? each : String(each))
  }
  return form
}

describe('a budget under attack', () => {
  let dear: DearUpstream
  let gateway: TestGateway

  async function start(options: { readonly honoursCaps: boolean }): Promise<void> {
    dear = await dearUpstream(options)
    const { origin } = dear.upstream
    const openai = (path: string) => ({
      provider: 'openai-compatible',
      breaker: false,
      config: { baseUrl: `${origin}${path}/v1`, responses: true },
    })
    const anthropic = (path: string) => ({
      provider: 'anthropic',
      breaker: false,
      config: { baseUrl: `${origin}${path}`, apiKey: `\${env:TEST_KEY}` },
    })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          up: openai(''),
          again: openai('/again'),
          claude: anthropic(''),
          'claude-again': anthropic('/again'),
          either: {
            models: {
              up: { targets: [{ model: 'up/text' }], fallbacks: ['again/text'] },
              claude: { targets: [{ model: 'claude/text' }], fallbacks: ['claude-again/text'] },
            },
          },
        },
        prices: { models: PRICES },
      },
      env: { TEST_KEY: 'key' },
    })
    await editAccount(gateway.store, { id: 'default', maxKeys: 10_000 }, GATEWAY)
  }

  afterEach(async () => {
    await gateway?.stop()
    await dear?.close()
  })

  const keyOf = (budget: number): Promise<string> => gateway.key({ budgets: [`${budget.toFixed(2)} USD/day`] })

  const send = ({ path, body, isForm }: Attack, key: string, signal?: AbortSignal): Promise<Response> =>
    gateway.fetch(path, { key, ...(isForm ? { method: 'POST', body: formOf(body) } : { json: body }), ...(signal && { signal }) })

  /** Calls at once with a key of its own; resolves to what the vendor billed for them. */
  async function attack(each: Attack, budget: number): Promise<number> {
    const key = await keyOf(budget)
    const before = dear.billed()
    const calls = Array.from({ length: AT_ONCE }, async () => {
      const reply = await send(each, key)
      await reply.arrayBuffer()
      return reply.status
    })
    for (const status of await Promise.all(calls)) expect(status, `${each.path} ${each.title}`).to.be.below(500)
    return dear.billed() - before
  }

  /** A stream that the client reads to its end, or leaves after some text; resolves to its cost, if it was served. */
  async function readStream(each: Attack, key: string, isLeft: boolean): Promise<number | undefined> {
    const leaving = new AbortController()
    const reply = await send(each, key, leaving.signal)
    let text = ''
    const decoder = new TextDecoder()
    try {
      for await (const bytes of reply.body!) {
        text += decoder.decode(bytes, { stream: true })
        if (isLeft && text.includes(SAID)) leaving.abort()
      }
    } catch {}
    const { costUsd } = await gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))
    return costUsd as number | undefined
  }

  it(`is never exceeded where the upstream honours caps: ${ATTACKS.length} bodies × ${BUDGETS.length} budgets × ${AT_ONCE} calls at once`, async () => {
    await start({ honoursCaps: true })
    let served = 0
    for (const each of ATTACKS) {
      for (const budget of BUDGETS) {
        const billed = await attack(each, budget)
        expect(billed, `${each.path} ${each.title} of ${budget} USD`).to.be.at.most(budget)
        if (billed > 0) served++
      }
    }
    // It holds although most calls are served.
    expect(served).to.be.above(ATTACKS.length / 2)
  }).timeout(240_000)

  it(`is never exceeded by attempts that fail after they have used something: ${REPLACED.length} bodies × ${BUDGETS.length} budgets × ${AT_ONCE} calls at once`, async () => {
    await start({ honoursCaps: true })
    dear.endWith('replaced')
    for (const each of REPLACED) {
      for (const budget of BUDGETS) {
        const billed = await attack(each, budget)
        expect(billed, `${each.path} ${each.title} of ${budget} USD`).to.be.at.most(budget + ROUNDING)
      }
    }
    const replaced = dear.upstream.requests.filter(({ path }) => path.startsWith('/again/')).length
    // Most calls have a fallback all the same.
    expect(replaced).to.be.above(REPLACED.length / 2)
    expect(dear.upstream.requests.length - replaced).to.be.above(replaced)
  }).timeout(120_000)

  const ends = ENDS.filter((end) => end !== 'whole' && end !== 'replaced')
  it(`is never exceeded however streams end: ${STREAMED.length} bodies × ${ends.length} ends × ${STREAM_BUDGETS.length} budgets, and each is charged what it costs`, async () => {
    await start({ honoursCaps: true })
    let served = 0
    for (const each of STREAMED) {
      for (const end of ends) {
        dear.endWith(end)
        for (const budget of STREAM_BUDGETS) {
          const key = await keyOf(budget)
          const before = dear.billed()
          let charged = 0
          for (let round = 0; round < ROUNDS; round++) {
            const costs = await Promise.all([1, 2].map(() => readStream(each, key, end === 'aborted')))
            const known = costs.filter((cost) => cost !== undefined)
            if (known.length === 0) break
            charged += known.reduce((sum, cost) => sum + cost, 0)
            served++
          }
          const billed = dear.billed() - before
          const title = `${each.path} ${each.title} ${end} of ${budget} USD`
          expect(billed, title).to.be.at.most(budget)
          expect(charged, title).to.be.at.least(billed - ROUNDING)
        }
      }
    }
    expect(served).to.be.above(STREAMED.length)
  }).timeout(120_000)

  it('is exceeded by one call at most where the upstream ignores caps, of calls one after the other', async () => {
    await start({ honoursCaps: false })
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/completions']) {
      const [{ body }] = ATTACKS.filter((each) => each.path === path) as [Attack, ...Attack[]]
      const key = await gateway.key({ budgets: ['3 USD/day'] })
      const before = dear.billed()
      const statuses: number[] = []
      for (let call = 0; call < 4; call++) {
        const reply = await gateway.fetch(path, { key, json: body })
        await reply.arrayBuffer()
        statuses.push(reply.status)
      }
      // Two USD each.
      expect(statuses, path).to.deep.equal([200, 200, 429, 429])
      expect(dear.billed() - before).to.be.closeTo(4, 0.01)
    }
  })

  it('does not pay for a service without a price, nor for a tool that the vendor runs: it says what to do', async () => {
    await start({ honoursCaps: true })
    const key = await gateway.key({ budgets: ['50 USD/day'] })
    const refused = async (path: string, members: object) => {
      const { body } = ATTACKS.find((each) => each.path === path)!
      const reply = await gateway.fetch(path, { key, json: { ...body, ...members } })
      return [reply.status, await reply.text()] as const
    }
    for (const [path, members, status, words] of [
      ['/v1/messages', { service_tier: 'priority_plus' }, 403, 'service_tier: '],
      ['/v1/chat/completions', { service_tier: 'scale' }, 403, 'service_tier: '],
      ['/v1/images/generations', { service_tier: 'priority' }, 403, 'service_tier: '],
      ['/v1/responses', { tools: [{ type: 'web_search_preview_2025_03_11' }] }, 400, '`web_search_preview`'],
      ['/v1/responses', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }] }, 400, '`mcp`'],
      ['/v1/responses', { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }, 400, '`shell`'],
      ['/v1/responses', { tools: [{ type: 'shell' }] }, 400, '`shell`'],
      ['/v1/messages', { tools: [{ type: 'code_execution_20250825', name: 'run' }] }, 400, '`code_execution`'],
      ['/v1/chat/completions', { web_search_options: {} }, 400, '`web_search`'],
    ] as const) {
      const [code, text] = await refused(path, members)
      expect([code, text.includes(words)], `${JSON.stringify(members)}: ${text}`).to.deep.equal([status, true])
    }
    expect(dear.billed()).to.equal(0)
    for (const [path, tool] of [
      ['/v1/chat/completions', { type: 'function', function: { name: 'f' } }],
      ['/v1/responses', { type: 'custom', name: 'c' }],
      ['/v1/responses', { type: 'shell', environment: { type: 'local' } }],
      ['/v1/messages', { type: 'bash_20250124', name: 'bash' }],
    ] as const) {
      const [code, text] = await refused(path, { tools: [tool] })
      expect(code, text).to.equal(200)
    }
  })
})
