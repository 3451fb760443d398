import { expect } from 'chai'
import type OpenAI from 'openai'
import {
  chunk,
  FIN,
  json,
  pieces,
  type ReceivedRequest,
  reply,
  type ScriptedUpstream,
  type Step,
  scriptedUpstream,
} from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { strangers } from './stranger-files.ts'

const TOKEN = 'acme-token-CANARY'

/** Says `Höllo`, one line an event. */
const LINES = [{ say: 'Höl' }, { say: 'lo' }, { end: 'done', cost: { heard: 5, said: 2 } }]

const lines = (items: readonly (object | null | typeof FIN)[], type = 'application/x-ndjson'): Step[] =>
  reply(
    items.map((item) => (item === FIN ? FIN : `${JSON.stringify(item)}\n`)),
    { framing: 'chunked', headers: { 'content-type': type } },
  )

const fault = (kind: string, more: object = {}) => ({ fault: { kind, text: `It is ${kind}`, ...more } })

describe('A third-party provider', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of routes.yaml
        namespaces: { acme: { provider: './acme.ts', config: { origin: upstream.origin, token: '${env:ACME_TOKEN}' } } },
      },
      env: { ACME_TOKEN: TOKEN },
      files: strangers('acme.ts'),
    })
  })

  after(async () => {
    expect(JSON.stringify(gateway?.log ?? [])).to.not.contain(TOKEN)
    await gateway?.stop()
    await upstream?.close()
  })

  const PROMPT = { model: 'acme/big one', messages: [{ role: 'user' as const, content: 'Hi' }] }

  const call = (body: object = {}) => gateway.fetch('/v1/chat/completions', { json: { ...PROMPT, ...body } })

  async function errorOf(response: Response) {
    return { status: response.status, ...((await response.json()) as { error: OpenAI.ErrorObject }).error }
  }

  it('sends requests in its own format', async () => {
    const received = upstream.reply(json({ say: 'Hello', end: 'done' }))
    await call({ temperature: 0.5, max_tokens: 9 })
    const request = await received
    expect(request.path).to.equal('/v9/engines/big%20one/speak')
    expect(request.headers).to.include({ 'x-acme-token': TOKEN, 'content-type': 'application/json' })
    expect(request.headers).to.not.have.property('authorization')
    expect(request.json()).to.deep.equal({ lines: ['user: Hi'], creativity: 0.5, words: 9, live: false })
  })

  it('serves the official SDK', async () => {
    upstream.reply(json({ say: 'Hello', end: 'words', cost: { heard: 5, said: 2 } }))
    const completion = await gateway.openai().chat.completions.create(PROMPT)
    expect(completion).to.include({ object: 'chat.completion', model: 'acme/big one' })
    expect(completion.choices[0]).to.deep.include({ index: 0, finish_reason: 'length' })
    expect(completion.choices[0]!.message).to.deep.equal({ role: 'assistant', content: 'Hello', refusal: null })
    expect(completion.usage).to.deep.equal({ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 })
  })

  for (const [how, script] of [
    ['line by line', lines(LINES)],
    ['byte by byte', pieces(lines(LINES), 1)],
    ['in one piece', pieces(lines(LINES), Number.POSITIVE_INFINITY)],
    ['called JSON by its content type', lines(LINES, 'application/json')],
  ] as const) {
    it(`streams to the official SDK an upstream stream that arrives ${how}`, async () => {
      upstream.reply(script)
      const stream = gateway.openai().chat.completions.stream({ ...PROMPT, stream_options: { include_usage: true } })
      expect(await stream.finalContent()).to.equal('Höllo')
      expect(await stream.totalUsage()).to.include({ total_tokens: 7 })
    })
  }

  it('reports the parameters that it drops', async () => {
    upstream.reply(json({ say: 'Hello', end: 'done' }))
    const messages = [{ role: 'user', name: 'Ada', content: 'Hi' }]
    const { headers } = await call({ messages, seed: 1, top_p: 0.5, n: 1 })
    expect(headers.get('x-umg-params-dropped')).to.equal('seed, top_p, messages.name')
  })

  it('refuses an unsupported parameter before any upstream request', async () => {
    const asked = upstream.requests.length
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const error = await errorOf(await call({ tools }))
    expect(error).to.include({ status: 400, code: 'unsupported_parameter', param: 'tools' })
    expect(error.message).to.match(/Acme calls no tools\.$/)
    expect(upstream.requests).to.have.length(asked)
  })

  for (const streamed of [false, true]) {
    describe(streamed ? 'asked for a stream' : 'asked for a whole reply', () => {
      for (const [what, script, expected] of [
        ['its 429 and its wait', json(fault('busy', { wait: 7 }), { status: 429 }), { status: 429, code: 'rate_limit_exceeded' }],
        ['its want of money', json(fault('broke'), { status: 402 }), { status: 429, code: 'insufficient_quota' }],
        [
          'its refusal of the token',
          json(fault('stranger'), { status: 403 }),
          { status: 400, code: 'upstream_authentication_error' },
        ],
        ['its refusal of the prompt', json(fault('unclear'), { status: 418 }), { status: 400, message: 'It is unclear' }],
        ['its fault', json(fault('odd'), { status: 500 }), { status: 502, code: 'upstream_error' }],
        ['a fault in a reply of 200', streamed ? lines([fault('busy')]) : json(fault('busy')), { status: 429 }],
        ['a reply that is none', streamed ? lines([null]) : json({}), { status: 502, code: 'upstream_invalid_response' }],
      ] as const) {
        it(`reports ${what} as an OpenAI error`, async () => {
          upstream.reply(script)
          const response = await call({ stream: streamed })
          expect(await errorOf(response)).to.include(expected)
          if (what.endsWith('wait')) expect(response.headers.get('retry-after')).to.equal('7')
        })
      }
    })
  }

  for (const [what, script, code] of [
    ['a fault', lines([{ say: 'Hö' }, fault('odd')]), 'upstream_error'],
    ['no end', lines([{ say: 'Hö' }]), 'upstream_disconnected'],
    ['half a line', lines([{ say: 'Hö' }]).toSpliced(-1, 0, chunk('{"end"')), 'upstream_disconnected'],
    ['a cut', lines([{ say: 'Hö' }, FIN]), 'upstream_disconnected'],
    ['a line that is not JSON', lines([{ say: 'Hö' }]).toSpliced(-1, 0, chunk('oops\n')), 'upstream_invalid_response'],
  ] as const) {
    it(`ends a stream that ends with ${what} with an error`, async () => {
      upstream.reply(script)
      const stream = await gateway.openai().chat.completions.create({ ...PROMPT, stream: true })
      const error = await Array.fromAsync(stream).catch((reason: unknown) => reason)
      expect(error).to.have.property('code', code)
    })
  }

  it('lists its models', async () => {
    const received: Promise<ReceivedRequest> = upstream.reply(json([{ engine: 'big one' }, { engine: 'small' }]))
    const models = await Array.fromAsync(gateway.openai().models.list())
    expect(models.map(({ id, owned_by }) => [id, owned_by])).to.deep.equal([
      ['acme/big one', 'acme'],
      ['acme/small', 'acme'],
    ])
    expect((await received).headers).to.have.property('x-acme-token', TOKEN)
  })

  it('has its duration in the metrics', async () => {
    expect(await gateway.metric('umg_plugin_duration_seconds_count', { plugin: 'acme', phase: 'request' })).to.be.greaterThan(0)
  })
})
