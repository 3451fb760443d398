import { expect } from 'chai'
import OpenAI from 'openai'
import { readFrames } from '../../../core/testing/conformance/read-frames.ts'
import { readResponseStream } from '../../../core/testing/conformance/read-responses.ts'
import { FIN, hold, json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { type ResponsesFixture, responseEvents, startFixture } from './fixture.ts'

describe('An error of a call to /v1/responses', () => {
  let fixture: ResponsesFixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  async function failure(asking: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
    const error = await asking.catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(OpenAI.APIError)
    return error as InstanceType<typeof OpenAI.APIError>
  }

  it('is a class of the SDK, whole and before a stream', async () => {
    const { client, open } = fixture
    const unknown = await failure(client.responses.create({ model: 'nope/x', input: 'Hi' }))
    expect(unknown).to.be.instanceOf(OpenAI.NotFoundError)
    open.reply(json({ error: { message: 'x', type: 'requests' } }, { status: 429, headers: { 'retry-after': '7' } }))
    const limit = await failure(client.responses.create({ model: 'open/m', input: 'Hi' }))
    expect(limit).to.be.instanceOf(OpenAI.RateLimitError)
    expect(limit.headers?.get('retry-after')).to.equal('7')
    open.reply(json({ error: { message: 'x', type: 'invalid_request_error', param: 'messages' } }, { status: 400 }))
    const streamed = client.responses.stream({ model: 'open/m', input: 'Hi' })
    expect(await failure(streamed.finalResponse()))
      .to.be.instanceOf(OpenAI.BadRequestError)
      .with.property('param', 'input')
  })

  const BEGUN = {
    native: responseEvents('Hello').slice(0, 2),
    open: openaiReply({ text: 'Hello' }).stream.slice(0, 2),
  }

  for (const namespace of ['native', 'open'] as const) {
    it(`ends a stream that breaks off, and is numbered after its events: ${namespace}`, async () => {
      fixture.open.reply(sse([...BEGUN[namespace], FIN]))
      const body = { model: `${namespace}/m`, input: 'Hi', stream: true }
      const reply = await fixture.gateway.fetch('/v1/responses', { json: body })
      const pieces: Uint8Array[] = []
      // The connection breaks after the event: a clean end would look like success.
      const reading = Array.fromAsync(reply.body!, (bytes) => pieces.push(bytes))
      expect(await reading.catch((thrown: unknown) => thrown)).to.be.instanceOf(TypeError)
      const events = readFrames(Buffer.concat(pieces).toString())
      const { type, sequence_number: number, code, error } = events.at(-1)!
      expect([type, number, code]).to.deep.equal(['error', events.length - 1, 'upstream_disconnected'])
      expect(error).to.include({ type: 'server_error', code: 'upstream_disconnected' })
      expect(events.map((event) => event.type)).to.not.include('response.completed')
    })

    it(`is thrown by the SDK where a stream breaks off: ${namespace}`, async () => {
      fixture.open.reply(sse([...BEGUN[namespace], FIN]))
      const stream = await fixture.client.responses.create({ model: `${namespace}/m`, input: 'Hi', stream: true })
      const texts: string[] = []
      const reading = (async () => {
        for await (const event of stream) if (event.type === 'response.output_text.delta') texts.push(event.delta)
      })()
      expect(await failure(reading)).to.include({ code: 'upstream_disconnected' })
      expect(texts.join('')).to.match(/^Hel/)
    })

    it(`is not sent to a client that leaves, and the call to the upstream is ended (${namespace})`, async () => {
      const paused = hold()
      const asked = fixture.open.reply(sse([...BEGUN[namespace], paused]))
      const { data: stream, request_id: id } = await fixture.client.responses
        .create({ model: `${namespace}/m`, input: 'Hi', stream: true })
        .withResponse()
      for await (const event of stream) if (event.type === 'response.output_text.delta') break
      stream.controller.abort()
      await (await asked).closed
      const line = await fixture.gateway.logged((one) => one.id === id)
      expect(line).to.include({ outcome: 'client_closed', endpoint: 'responses' })
    })
  }

  it('does not come of a silent stream, which has comments', async () => {
    // A gateway of its own: a heartbeat begins the stream, so that an upstream's later error has no status.
    await using started = new AsyncDisposableStack()
    const { open, gateway, stop } = await startFixture({ times: { heartbeat: 20 } })
    started.defer(stop)
    const paused = hold()
    const events = openaiReply({ text: 'Hello' }).stream
    open.reply(sse([...events.slice(0, 2), paused, ...events.slice(2)]))
    const reply = await gateway.fetch('/v1/responses', { json: { model: 'open/m', input: 'Hi', stream: true } })
    let text = ''
    for await (const bytes of reply.body!) {
      text += Buffer.from(bytes).toString()
      if (text.includes(': keep-alive\n\n')) paused.release()
    }
    expect(readResponseStream(text).status).to.equal('completed')
  })
})
