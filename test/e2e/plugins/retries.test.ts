import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, completion, hello } from './openai-wire.ts'
import { strangers } from './stranger-files.ts'

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const ERROR = { error: { message: 'no', code: 500 } }

describe('onRetry of a link', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const provider = (path: string) => ({
      provider: 'openai-compatible',
      breaker: false,
      config: { baseUrl: `${upstream.origin}${path}/v1` },
    })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: './prudent.ts' }],
        namespaces: {
          first: provider('/first'),
          second: provider('/second'),
          acme: {
            models: {
              m: { targets: [{ model: 'first/m' }], fallbacks: ['second/m'] },
              brief: { targets: [{ model: 'first/m' }], fallbacks: ['second/m'], timeouts: { total: '100ms' } },
            },
          },
        },
      },
      files: strangers('prudent.ts'),
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const noted = () => gateway.log.filter(({ msg }) => msg === 'before another attempt').map(({ total_tokens }) => total_tokens)

  /** A call whose first attempt fails so. Resolves to its status, its code, and what its link has noted. */
  async function call(mood: string, failed: ReturnType<typeof json>): Promise<readonly unknown[]> {
    const before = noted().length
    upstream.on((request) => (request.path.startsWith('/first') ? failed : hello(request)))
    const reply = await gateway.fetch('/v1/chat/completions', { json: ask({ model: 'acme/m' }), headers: { 'x-mood': mood } })
    const { error } = (await reply.json()) as { error?: { code: string } }
    return [reply.status, error?.code, noted().slice(before)]
  }

  const half = json({ ...completion('half'), usage: USAGE, ...ERROR })
  for (const [mood, ...end] of [
    ['generous', 200, undefined, [15]],
    ['strict', 403, 'request_refused', [15]],
    ['broken', 500, 'plugin_error', [15]],
  ] as const)
    it(`that is ${mood} runs before an attempt after those that have used tokens, and may end the call`, async () => {
      expect(await call(mood, half)).to.deep.equal(end)
    })

  it('does not run after an attempt that has used nothing', async () => {
    expect(await call('strict', json(ERROR, { status: 500 }))).to.deep.equal([200, undefined, []])
  })

  describe('that never ends', () => {
    /** Begins a call, and waits until its link is asked before its second attempt. */
    async function asked(model: string, signal?: AbortSignal) {
      upstream.on((request) => (request.path.startsWith('/first') ? half : hello(request)))
      const since = gateway.log.length
      const later = (fits: (line: Record<string, unknown>) => boolean) =>
        gateway.logged((line) => gateway.log.indexOf(line) >= since && fits(line))
      const headers = { 'x-mood': 'endless' }
      const reply = gateway.fetch('/v1/chat/completions', { json: ask({ model }), headers, ...(signal && { signal }) })
      const status = reply.then(
        ({ status }) => status,
        () => 'left' as const,
      )
      await later(({ msg }) => msg === 'before another attempt')
      return { status, line: later(({ outcome }) => outcome !== undefined) }
    }

    it('does not outlast the time of its call', async () => {
      const { status, line } = await asked('acme/brief')
      expect([await status, (await line).outcome]).to.deep.equal([502, 'upstream_error'])
    })

    it('does not outlast its client: the call is settled when that leaves', async () => {
      const client = new AbortController()
      const { status, line } = await asked('acme/m', client.signal)
      client.abort()
      expect([await status, (await line).outcome]).to.deep.equal(['left', 'client_closed'])
    })

    it('does not outlast the gateway', async () => {
      const { status, line } = await asked('acme/m')
      await gateway.stop()
      expect([await status, (await line).outcome]).to.deep.equal([502, 'upstream_error'])
    })
  })
})
