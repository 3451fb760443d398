import { expect } from 'chai'
import { hold, json, RST } from '../../../core/testing/kit.ts'
import { poll } from '../../support/poll.ts'
import { ask, stream as chunks, completion, USAGE } from '../plugins/openai-wire.ts'
import { CLIENT, contextOf, type Fixture, newTraceId, startFixture, traceparent } from './fixture.ts'

describe('the trace of a call', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  it("continues the client's: a span for the call, below it one for the attempt, which the upstream continues", async () => {
    const { gateway, collector, upstream, call, row } = fixture
    const headers = { traceparent: traceparent(), tracestate: 'vendor=1' }
    const { id } = await call({}, { headers })
    const [server, client] = await collector.trace(CLIENT.traceId, 2)

    expect(server).to.deep.include({ kind: 'server', name: 'POST /v1/chat/completions', parentId: CLIENT.spanId, isError: false })
    const { key, account, ms } = await row(id)
    expect(server!.attributes).to.include({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'umg.request.id': id,
      'umg.request.model': 'up/m',
      'umg.key.id': key!.id,
      'umg.account.id': account!.id,
      'umg.outcome': 'ok',
      'umg.attempts': 1,
    })
    expect(server!.resource).to.include({ 'service.name': 'unified-model-gateway', 'service.version': 'test' })

    expect(client).to.deep.include({ kind: 'client', name: 'chat m', parentId: server!.spanId, isError: false })
    expect(client!.attributes).to.include({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': USAGE.prompt_tokens,
      'gen_ai.usage.output_tokens': USAGE.completion_tokens,
      'umg.namespace': 'up',
      'umg.attempt': 1,
    })
    expect(client!.attributes).to.not.have.any.keys('gen_ai.request.stream', 'error.type')

    expect(server!.end - server!.start).to.equal(BigInt(Math.round(ms.total * 1000)) * 1000n)
    expect(client!.start >= server!.start && client!.end <= server!.end).to.equal(true)

    const received = upstream.requests.at(-1)!
    expect(contextOf(received)).to.deep.equal({ traceId: CLIENT.traceId, spanId: client!.spanId, flags: '01' })
    expect(received.headers.tracestate).to.equal('vendor=1')
    expect([server!.state, client!.state]).to.deep.equal(['vendor=1', 'vendor=1'])

    const line = await gateway.logged((each) => each.id === id)
    expect(line).to.include({ trace_id: CLIENT.traceId, span_id: server!.spanId })
    expect((await row(id)).trace_id).to.equal(CLIENT.traceId)
  })

  it('has the time of the first token of a stream', async () => {
    const traceId = newTraceId()
    const { id } = await fixture.call({ stream: true }, { headers: { traceparent: traceparent(traceId) } })
    const [server, client] = await fixture.collector.trace(traceId, 2)
    const { ms, attempts } = await fixture.row(id)
    const [event] = server!.events
    expect(event!.name).to.equal('umg.first_token')
    expect(event!.time - server!.start).to.equal(BigInt(Math.round(ms.first_byte! * 1000)) * 1000n)
    expect(client!.attributes).to.include({ 'gen_ai.request.stream': true })
    expect(client!.attributes['gen_ai.response.time_to_first_chunk']).to.be.closeTo(
      (ms.first_byte! - attempts[0]!.start!) / 1000,
      1e-6,
    )
  })

  for (const stream of [false, true])
    it(`has a fail-over: an event, and a span for each attempt, streamed: ${stream}`, async () => {
      const traceId = newTraceId()
      await fixture.call({ model: 'acme/m', stream }, { headers: { traceparent: traceparent(traceId) } })
      const [server, failed, served] = await fixture.collector.trace(traceId, 3)
      expect(server!.attributes).to.include({ 'umg.attempts': 2, 'umg.request.model': 'acme/m' })
      expect(server!.isError).to.equal(false)
      const event = server!.events.find(({ name }) => name === 'umg.fail_over')!
      expect(event.attributes).to.deep.equal({ 'umg.from': 'bad/m', 'umg.to': 'up/m', 'error.type': 'upstream_error' })
      expect(event.time).to.equal(served!.start)
      expect(failed).to.deep.include({ isError: true, parentId: server!.spanId })
      expect(failed!.attributes).to.include({ 'error.type': 'upstream_error', 'umg.namespace': 'bad', 'umg.attempt': 1 })
      expect(failed!.attributes).to.not.have.any.keys('gen_ai.usage.input_tokens')
      expect(served).to.deep.include({ isError: false, parentId: server!.spanId })
      // The stream of this upstream reports no usage.
      expect(served!.attributes).to.include({ 'umg.attempt': 2, 'umg.usage.estimated': stream })
      expect(served!.attributes).to.include.keys('gen_ai.usage.output_tokens')
      const contexts = fixture.upstream.requests.slice(-2).map(contextOf)
      expect(contexts.map(({ spanId }) => spanId)).to.deep.equal([failed!.spanId, served!.spanId])
    })

  it('has an attempt on a new connection, after a stale one, as one more attempt, and waits for its upstream too', async () => {
    const { row, upstream, collector } = fixture
    // Leaves a connection that is used again.
    await fixture.call()
    const held = hold()
    upstream.reply([RST])
    upstream.reply([held, ...json(completion('Hello'))])
    const traceId = newTraceId()
    const called = fixture.call({}, { headers: { traceparent: traceparent(traceId) } })
    await held.reached
    const since = performance.now()
    // Passes some time in which the upstream alone is waited for.
    await poll(
      () => performance.now() - since,
      (ms) => ms > 20,
    )
    const heldMs = performance.now() - since
    held.release()
    const { id } = await called
    const [server, stale, served] = await collector.trace(traceId, 3)
    expect(server!.attributes).to.include({ 'umg.attempts': 2 })
    expect(stale!.spanId).to.not.equal(served!.spanId)
    expect(upstream.requests.slice(-2).map((request) => contextOf(request).spanId)).to.deep.equal([stale!.spanId, served!.spanId])
    const { total, overhead } = (await row(id)).ms
    expect(total - overhead).to.be.at.least(heldMs)
  })

  it('has each attempt of a translated call continue with a span of its own', async () => {
    const traceId = newTraceId()
    const reply = await fixture.gateway.fetch('/v1/messages', {
      json: { ...ask({ model: 'acme/m' }), max_tokens: 10 },
      headers: { traceparent: traceparent(traceId) },
    })
    expect(reply.status, await reply.text()).to.equal(200)
    const [server, failed, served] = await fixture.collector.trace(traceId, 3)
    expect(server!.name).to.equal('POST /v1/messages')
    expect(fixture.upstream.requests.slice(-2).map((request) => contextOf(request).spanId)).to.deep.equal([
      failed!.spanId,
      served!.spanId,
    ])
  })

  it('has a refused key', async () => {
    const traceId = newTraceId()
    const options = { headers: { traceparent: traceparent(traceId) }, key: 'sk-live-000000000000000000000000000000000000' }
    expect((await fixture.call({}, options)).status).to.equal(401)
    const [server] = await fixture.collector.trace(traceId, 1)
    expect(server).to.deep.include({ kind: 'server', parentId: CLIENT.spanId, isError: false, events: [] })
    expect(server!.attributes).to.include({
      'http.response.status_code': 401,
      'error.type': 'invalid_api_key',
      'umg.attempts': 0,
    })
  })

  it('has a call that exceeds a limit', async () => {
    const key = await fixture.gateway.key({ rateClass: 'few' })
    await fixture.call({}, { key })
    const traceId = newTraceId()
    expect((await fixture.call({}, { key, headers: { traceparent: traceparent(traceId) } })).status).to.equal(429)
    const [server] = await fixture.collector.trace(traceId, 1)
    expect(server!.attributes).to.include({ 'http.response.status_code': 429, 'umg.outcome': 'rate_limited' })
    expect(server!.isError).to.equal(false)
  })

  it('has an error of the upstream', async () => {
    const traceId = newTraceId()
    const { status } = await fixture.call({ model: 'bad/m' }, { headers: { traceparent: traceparent(traceId) } })
    const spans = await fixture.collector.trace(traceId, 2)
    const [server] = spans
    expect(server!.attributes).to.include({ 'http.response.status_code': status, 'error.type': 'upstream_error' })
    expect(spans.map(({ isError }) => isError)).to.deep.equal(spans.map(() => true))
  })

  it('has a client that leaves', async () => {
    const traceId = newTraceId()
    const leaving = new AbortController()
    const silent = hold()
    const asked = fixture.upstream.reply([...chunks('Hel').slice(0, 3), silent])
    const init = { json: ask({ stream: true }), headers: { traceparent: traceparent(traceId) }, signal: leaving.signal }
    const reply = await fixture.gateway.fetch('/v1/chat/completions', init)
    expect(reply.status).to.equal(200)
    leaving.abort()
    await (await asked).closed
    const [server, client] = await fixture.collector.trace(traceId, 2)
    expect(server!.attributes).to.include({ 'http.response.status_code': 499, 'umg.outcome': 'client_closed' })
    expect(client!.attributes).to.include({ 'error.type': 'client_closed' })
    expect([server!.isError, client!.isError]).to.deep.equal([false, false])
  })

  it('has a retry at the same target', async () => {
    const traceId = newTraceId()
    void fixture.upstream.reply(json({ error: { message: 'later' } }, { status: 500 }))
    await fixture.call({ model: 'acme/one' }, { headers: { traceparent: traceparent(traceId) } })
    const [server] = await fixture.collector.trace(traceId, 3)
    expect(server!.events.map(({ name, attributes }) => [name, attributes['umg.to']])).to.deep.equal([['umg.retry', 'up/m']])
  })

  it('has the path of its endpoint', async () => {
    const { gateway, collector } = fixture
    const paths = ['/v1/models', '/v1/embeddings', '/v1/messages/count_tokens', '/v1/responses']
    for (const path of paths) {
      const traceId = newTraceId()
      const body = { ...ask(), input: 'Hi' }
      const reply = await gateway.fetch(path, {
        ...(path !== '/v1/models' && { json: body }),
        headers: { traceparent: traceparent(traceId) },
      })
      await reply.text()
      const [server] = await collector.trace(traceId, 1)
      expect(server!.name).to.equal(`${path === '/v1/models' ? 'GET' : 'POST'} ${path}`)
      expect(server!.attributes['http.route']).to.equal(path)
    }
  })

  for (const [what, header] of [
    ['none', undefined],
    ['a traceparent that is not valid', '00-00000000000000000000000000000000-00f067aa0ba902b7-01'],
    ['a traceparent with more than its version allows', `${traceparent()}-more`],
  ] as const)
    it(`is a new one if the client sends ${what}`, async () => {
      const { id } = await fixture.call({}, header === undefined ? {} : { headers: { traceparent: header } })
      const { trace_id } = await fixture.row(id)
      const [server] = await fixture.collector.trace(trace_id!, 2)
      expect(trace_id).to.not.equal(CLIENT.traceId)
      expect(server!.parentId).to.equal(undefined)
      expect(server!.attributes['umg.request.id']).to.equal(id)
    })

  it('is counted, span by span', async () => {
    const { gateway, collector } = fixture
    const { id } = await fixture.call()
    await collector.trace((await fixture.row(id)).trace_id!, 2)
    // The gateway counts spans when the collector has answered.
    const exported = () => gateway.metric('umg_trace_spans_total', { result: 'exported' })
    await poll(exported, (count) => count === collector.spans.length)
    expect(await gateway.metric('umg_trace_spans_total', { result: 'failed' })).to.equal(0)
    expect(await gateway.metric('umg_trace_spans_total', { result: 'dropped' })).to.equal(0)
  })
})
