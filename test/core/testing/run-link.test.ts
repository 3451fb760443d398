import { expect } from 'chai'
import { type ChainPlugin, defineChain, GatewayError, Secret, secret, Type } from 'unified-model-gateway/plugin'
import { FIN, hold, json, openaiReply, runLink, sse, startLink } from 'unified-model-gateway/plugin/testing'

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
    const { client } = await runLink(noter, { asked: 'models' })
    expect(JSON.parse(client.text).data).to.have.length(1)
    expect(client.headers).to.include({ 'x-endpoint': 'models' })
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
