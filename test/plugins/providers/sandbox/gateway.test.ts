import { expect } from 'chai'
import type OpenAI from 'openai'
import { APIError, InternalServerError, RateLimitError } from 'openai'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'
import { startSandboxGateway } from './sandbox.ts'

describe('sandbox: through the gateway, as a client with the official SDK sees it', () => {
  let gateway: TestGateway
  let client: OpenAI

  before(async () => {
    gateway = await startSandboxGateway()
    client = gateway.openai(gateway.testKey).withOptions({ maxRetries: 0 })
  })

  after(() => gateway?.stop())

  const asking = (content: string, model = 'openai/gpt-5.5') => ({ model, messages: [{ role: 'user' as const, content }] })

  async function failure(promise: Promise<unknown>): Promise<APIError> {
    try {
      await promise
    } catch (error) {
      expect(error).to.be.instanceOf(APIError)
      return error as APIError
    }
    throw new Error('it did not fail')
  }

  it('a call with a test key is answered for any model, always in the same way', async () => {
    const [first, second] = [
      await client.chat.completions.create(asking('Hi')),
      await client.chat.completions.create(asking('Hi')),
    ]
    expect(first.model).to.equal('openai/gpt-5.5')
    expect(first.choices[0]!.message.content).to.include('You said: Hi')
    expect(JSON.stringify(first)).to.equal(JSON.stringify(second))
    expect(first._request_id).not.to.equal(second._request_id)
  })

  it('a mistyped model is answered, under its name, unless the namespace lists its models', async () => {
    const mistyped = asking('Hi', 'sandbox/helo')
    expect((await client.chat.completions.create(mistyped)).choices[0]!.message.content).to.include('helo')
    const listed = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { sandbox: { provider: 'sandbox', models: ['hello', 'echo'] } } },
    })
    const { status } = await listed.fetch('/v1/chat/completions', { json: mistyped, key: listed.testKey })
    await listed.stop()
    expect(status).to.equal(404)
  })

  it('a stream is complete, with its usage if requested', async () => {
    const body = asking('one two three', 'sandbox/echo')
    const completion = await client.chat.completions
      .stream({ ...body, stream_options: { include_usage: true } })
      .finalChatCompletion()
    expect(completion.choices[0]!.message.content).to.equal('one two three')
    expect(completion.usage).to.include({ prompt_tokens: 3, completion_tokens: 3 })
    const plain = await Array.fromAsync(await client.chat.completions.create({ ...body, stream: true }))
    expect(plain.some(({ usage }) => usage)).to.equal(false)
  })

  it('a JSON schema and a tool call are answered', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
    const format = { type: 'json_schema' as const, json_schema: { name: 'x', strict: true, schema } }
    const json = await client.chat.completions.create({ ...asking('Hi'), response_format: format })
    expect(JSON.parse(json.choices[0]!.message.content!)).to.deep.equal({ city: 'sandbox' })
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters: schema } }]
    const called = await client.chat.completions.stream({ ...asking('Hi'), tools, tool_choice: 'required' }).finalChatCompletion()
    expect(called.choices[0]!.message.tool_calls![0]).to.have.nested.property('function.arguments', '{"city":"sandbox"}')
  })

  it('status=429 is a rate limit, with its time to wait', async () => {
    const error = await failure(client.chat.completions.create(asking('sandbox: status=429 retry-after=7')))
    expect(error).to.be.instanceOf(RateLimitError)
    expect(error.headers!.get('retry-after')).to.equal('7')
  })

  it('status=503 is a server error, streamed or not', async () => {
    for (const stream of [false, true]) {
      const error = await failure(client.chat.completions.create({ ...asking('sandbox: status=503'), stream }))
      expect(error).to.be.instanceOf(InternalServerError)
      expect(error.status).to.equal(503)
    }
  })

  it('a request that the sandbox cannot answer is a 400 with the reason', async () => {
    const error = await failure(client.chat.completions.create(asking('sandbox: explode=now')))
    expect(error.status).to.equal(400)
    expect(error.message).to.include("does not know 'explode'").and.include('retry-after')
  })

  it('cut ends a stream with an error', async () => {
    const seen: string[] = []
    const stream = await client.chat.completions.create({ ...asking('sandbox: chunks=9 interval=1ms cut=4'), stream: true })
    const error = await failure(
      (async () => {
        for await (const { choices } of stream) seen.push(choices[0]!.delta.content ?? '')
      })(),
    )
    expect(seen.join('')).to.equal('1 2 3')
    expect(error.code).to.equal('upstream_disconnected')
  })

  it('cut of a whole reply is a 502', async () => {
    const error = await failure(client.chat.completions.create(asking('sandbox: cut=1')))
    expect([error.status, error.code]).to.deep.equal([502, 'upstream_disconnected'])
  })

  it('stall ends by the timeout of the namespace', async () => {
    const live = gateway.openai().withOptions({ maxRetries: 0 })
    const error = await failure(live.chat.completions.create(asking('sandbox: stall=1', 'stalling/echo')))
    expect([error.status, error.code]).to.deep.equal([504, 'upstream_timeout'])
  })

  it('a stalled stream ends when the client disconnects', async () => {
    const stream = await client.chat.completions.create({ ...asking('sandbox: chunks=9 stall=3'), stream: true })
    for await (const _ of stream) break
    const line = await gateway.logged(({ status }) => status === 499)
    expect(line).to.include({ status: 499 })
  })
})
