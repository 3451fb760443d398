import { expect } from 'chai'
import {
  type CallState,
  type ChainPlugin,
  defineChain,
  GatewayError,
  type ModelEndpointName,
  Secret,
  secret,
  Type,
} from 'unified-model-gateway/plugin'
import { EVERY_CALL, FIN, hold, json, openaiReply, runLink, sse, startLink } from 'unified-model-gateway/plugin/testing'

/** Signs requests, shouts, and notes how calls end. */
const shouter = defineChain({
  apiVersion: 1,
  name: 'shouter',
  schema: Type.Object(
    { token: secret({ description: 'A token.' }), mark: Type.String({ default: '!' }) },
    { additionalProperties: false },
  ),
  create: ({ token, mark }, host) => ({
    async handle(ctx, next) {
      const { state } = ctx
      state.upstreamHeaders['x-token'] = token.reveal()
      const loud = (text: string | null | undefined) => text && text.toUpperCase() + mark
      state.reply.transform({
        completion(completion) {
          for (const { message } of completion.choices) message.content = loud(message.content) ?? null
          return completion
        },
        chunk(chunk) {
          for (const { delta } of chunk.choices) if (delta.content) delta.content = loud(delta.content)
          return chunk
        },
      })
      state.onSettled(({ kind }) => host.log.info({ kind }, 'settled'))
      await next()
      ctx.set('x-shouted', state.served?.model ?? 'nobody')
    },
  }),
})

const config = { token: new Secret('t-secret') }

/** Answers by itself, refuses, or fails, as the header says. */
const moody = defineChain({
  apiVersion: 1,
  name: 'moody',
  schema: Type.Object({}),
  create: () => ({
    async handle(ctx, next) {
      const call = await ctx.state.call()
      const { whole } = openaiReply({ text: `for ${ctx.state.principal?.account ?? 'nobody'}` })
      switch (ctx.get('x-mood')) {
        case 'quick':
          return ctx.state.reply.send(whole)
        case 'strict':
          throw new GatewayError('request_refused', { values: { detail: `Not ${call.model.model}.` } })
        case 'broken':
          throw new Error('oops')
      }
      return next()
    },
  }),
})

/** A link that handles each call before it is sent. */
const before = (name: string, handle: (state: CallState) => Promise<void> | void): ChainPlugin =>
  defineChain({
    apiVersion: 1,
    name,
    schema: Type.Object({}),
    create: () => ({
      async handle({ state }, next) {
        await handle(state)
        await next()
      },
    }),
  })

/** The titles of the calls that fail with a link. */
async function brokenBy(link: ChainPlugin): Promise<Readonly<Record<string, string | null>>> {
  await using started = await startLink(link)
  const broken: Record<string, string | null> = {}
  for (const [title, call] of Object.entries(EVERY_CALL)) {
    const { client } = await started.run(call)
    if (client.error !== undefined) broken[title] = client.error.code
  }
  return broken
}

const WRITERS: readonly ModelEndpointName[] = ['chat.completions', 'messages', 'responses']

describe('runLink', () => {
  it('returns the whole reply, the upstream request, the outcome and the log', async () => {
    const { client, upstream, outcome, log } = await runLink(shouter, { config, asked: { temperature: 0 } })
    expect(client).to.include({ status: 200 })
    expect(client.headers).to.include({ 'x-shouted': 'some-model' })
    expect(client.completion?.choices[0]?.message.content).to.equal('HELLO!!')
    expect(upstream.map((request) => request.json())).to.deep.equal([
      { model: 'some-model', messages: [{ role: 'user', content: 'Hello' }], temperature: 0 },
    ])
    expect(upstream[0]!.headers).to.include({ 'x-token': 't-secret' })
    expect(outcome).to.deep.include({ kind: 'ok', status: 200 })
    expect(log.map(({ msg, kind }) => [msg, kind])).to.deep.equal([['settled', 'ok']])
  })

  it('returns the chunks of a stream', async () => {
    const { client } = await runLink(shouter, {
      config: { ...config, mark: '?' },
      asked: { stream: true },
      upstream: { text: 'Good morning' },
    })
    expect(client.chunks?.map(({ choices }) => choices[0]?.delta.content).join('')).to.equal('GOOD M?ORNING?')
    expect(client.done).to.equal(true)
  })

  it('returns the error of an upstream that refuses or breaks a stream off', async () => {
    const refused = await runLink(shouter, { config, upstream: json({ error: { message: 'No' } }, { status: 500 }) })
    expect(refused.client).to.deep.include({ status: 502 })
    expect(refused.client.error).to.include({ code: 'upstream_error' })
    expect(refused.outcome).to.include({ kind: 'upstream_error' })

    const script = sse([...openaiReply({ text: 'Hello' }).stream.slice(0, 2), FIN])
    const broken = await runLink(shouter, { config, asked: { stream: true }, upstream: script })
    expect(broken.client).to.deep.include({ status: 200, done: false })
    expect(broken.client.error).to.include({ code: 'upstream_disconnected' })
    expect(broken.outcome.error).to.have.property('row', 'upstream_disconnected')
  })

  for (const [when, stream] of [
    ['before its reply', false],
    ['within a stream', true],
  ] as const) {
    it(`reports a client that disconnects ${when}`, async () => {
      const stalled = hold()
      const upstream = stream ? sse([...openaiReply({ text: 'Hello' }).stream.slice(0, 2), stalled]) : [stalled]
      const { client, outcome } = await runLink(shouter, { config, asked: { stream }, upstream, leaveAt: stalled })
      expect(client.status).to.equal(stream ? 200 : undefined)
      expect(outcome).to.deep.include({ kind: 'client_closed', status: 499 })
    })
  }

  it('reports a link that replies, refuses or fails without an upstream request', async () => {
    const run = (mood: string) => runLink(moody, { headers: { 'x-mood': mood }, principal: { account: 'blue' } })
    const [quick, strict, broken] = [await run('quick'), await run('strict'), await run('broken')]
    expect(quick.client.completion?.choices[0]?.message.content).to.equal('for blue')
    expect(strict.client).to.deep.include({ status: 403 })
    expect(strict.client.error?.message).to.contain('Not some-model.')
    expect(broken.client.error).to.include({ code: 'plugin_error' })
    for (const { upstream } of [quick, strict, broken]) expect(upstream).to.deep.equal([])
  })

  it('lets a link set the principal itself', async () => {
    expect((await runLink(moody, { principal: null })).client).to.deep.include({ status: 401 })
  })

  it('can request the list of models', async () => {
    const noter: ChainPlugin = defineChain({
      apiVersion: 1,
      name: 'noter',
      schema: Type.Object({}),
      create: () => ({
        async handle(ctx, next) {
          await next()
          ctx.set('x-endpoint', ctx.state.endpoint)
        },
      }),
    })
    const { client } = await runLink(noter, { endpoint: 'models' })
    expect(JSON.parse(client.text).data).to.have.length(1)
    expect(client.headers).to.include({ 'x-endpoint': 'models' })
  })

  for (const endpoint of WRITERS)
    for (const stream of [false, true])
      it(`returns what the client reads at ${endpoint}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const tools = [{ name: 'look', arguments: { at: 'Lima' } }]
        const spoken = { reasoning: 'Hm.', text: 'I look.', tools }
        const { client, upstream } = await runLink(shouter, { config, endpoint, asked: { stream }, upstream: spoken })
        expect(client.status, client.text).to.equal(200)
        expect(client.done).to.equal(stream)
        expect(client.said).to.deep.equal({
          reasoning: 'Hm.',
          text: stream ? 'I LO!OK.!' : 'I LOOK.!',
          tools,
          finish: 'tool_calls',
        })
        expect(upstream[0]!.headers).to.include({ 'x-token': 't-secret' })
      })

  for (const endpoint of WRITERS)
    it(`returns the error of a stream that breaks off at ${endpoint}`, async () => {
      const script = sse([...openaiReply({ text: 'Hello' }).stream.slice(0, 2), FIN])
      const { client } = await runLink(shouter, { config, endpoint, asked: { stream: true }, upstream: script })
      expect(client).to.deep.include({ status: 200, done: false })
      expect(client).not.to.have.property('said')
      expect(client.error!.message).to.include('closed the connection')
    })

  it('calls each endpoint, whole and streamed, and each serves a link that changes nothing', async () => {
    await using started = await startLink(before('noop', () => undefined))
    const served: string[] = []
    for (const [title, call] of Object.entries(EVERY_CALL)) {
      const { client, upstream, outcome } = await started.run(call)
      expect(client.status, `${title}: ${client.text}`).to.equal(200)
      expect(outcome.kind, title).to.equal('ok')
      expect(client.done, title).to.equal(title.endsWith(', streamed'))
      if (upstream.length > 0) served.push(title)
    }
    expect(Object.keys(EVERY_CALL).filter((title) => !served.includes(title))).to.deep.equal(['messages.count_tokens', 'models'])
  })

  it('finds a link that adds a member of chat completions to every call', async () => {
    const link = before('short', async (state) => {
      if (state.endpoint !== 'models') (await state.call()).edit('/max_tokens', 100)
    })
    const broken = await brokenBy(link)
    expect(Object.keys(broken).filter((title) => /^(?:chat|messages|responses|completions)/.test(title))).to.deep.equal([])
    expect(broken).to.have.property('embeddings')
    expect(broken).to.include.keys('rerank', 'audio.speech, streamed', 'audio.transcriptions', 'images.generations')
  })

  it('finds a link that reads messages of every call', async () => {
    const link = before('reader', async (state) => {
      if (state.endpoint !== 'models') (await state.call()).body.messages.at(-1)
    })
    const broken = await brokenBy(link)
    expect(broken).to.include({ embeddings: 'plugin_error', completions: 'plugin_error' })
    expect(broken).not.to.include.keys('chat.completions', 'messages', 'responses, streamed')
  })

  it('shows that a link masks the replies of chat completions only', async () => {
    const link = before('mask', ({ endpoint, reply }) => {
      if (endpoint !== 'chat.completions') return
      reply.transform({
        completion: (completion) => {
          for (const { message } of completion.choices) message.content = '…'
          return completion
        },
        chunk: (chunk) => chunk,
      })
    })
    const read = async (endpoint: ModelEndpointName) => (await runLink(link, { endpoint })).client.said?.text
    expect(await Promise.all(WRITERS.map(read))).to.deep.equal(['…', 'Hello!', 'Hello!'])
  })

  it('sends several calls through one link', async () => {
    let closed = 0
    const counter = defineChain({
      apiVersion: 1,
      name: 'counter',
      schema: Type.Object({}),
      create() {
        let calls = 0
        return {
          async handle(ctx, next) {
            ctx.set('x-calls', String(++calls))
            await next()
          },
          close: () => void closed++,
        }
      },
    })
    const bench = await startLink(counter)
    await bench.run()
    const { client, upstream } = await bench.run()
    await bench.close()
    expect(client.headers).to.include({ 'x-calls': '2' })
    expect(upstream).to.have.length(1)
    expect(closed).to.equal(1)
  })

  it("throws the gateway's error for an invalid configuration", async () => {
    const wrong = await runLink(shouter, { config: { ...config, marc: '?' } }).catch((error: unknown) => String(error))
    expect(wrong).to.match(/unknown field "marc".*did you mean "mark"/s)
  })
})
