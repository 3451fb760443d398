import { expect } from 'chai'
import { event, gather, runTranslator } from 'unified-model-gateway/plugin/testing'
import { documentedChunks, documentedReply } from '../../../fixtures/documented.ts'
import { azure } from './azure.ts'
import { azureReply, BLOCKED, FINDINGS, FIRST, failure } from './azure-reply.ts'

const provider = await azure()
const listen = (stream: readonly string[]) => runTranslator(provider, { stream })

/** An event of an asynchronous filter: it has no id, and the offsets of its results in the text. */
const late = (content_filter_offsets: object) =>
  event({
    id: '',
    object: '',
    created: 0,
    model: '',
    choices: [{ index: 0, finish_reason: null, content_filter_results: { hate: { filtered: false } }, content_filter_offsets }],
  })

describe('azure-openai: results of content filters', () => {
  it('for the prompt are in the first chunk with a choice', () => {
    const { chunks, done } = listen(azureReply({ text: 'Hello' }).stream)
    expect(done).to.equal(true)
    expect(new Set(chunks.map(({ id }) => id))).to.deep.equal(new Set(['chatcmpl-1']))
    expect(chunks[0]).to.deep.include({ prompt_filter_results: FINDINGS })
    expect(chunks.filter((chunk) => 'prompt_filter_results' in chunk)).to.have.lengthOf(1)
    expect(chunks.filter(({ choices }) => choices.length === 0)).to.have.lengthOf(1)
  })

  it('of a whole reply are unchanged', () => {
    const { whole } = azureReply({ text: 'Hello' })
    expect(runTranslator(provider, { whole })).to.deep.include({ prompt_filter_results: FINDINGS })
    expect(runTranslator(provider, { whole }).choices[0]).to.have.nested.property('content_filter_results.hate.severity', 'safe')
  })

  it('after the text are in the last chunk', () => {
    const { stream } = azureReply({ text: 'Hello' })
    const finish = stream.findIndex((one) => one.includes('"finish_reason":"stop"'))
    const { chunks, done } = listen([...stream.slice(0, finish + 1), late({ end_offset: 5 }), ...stream.slice(finish + 1)])
    expect(done).to.equal(true)
    expect(gather(chunks).choices[0]).to.include({ content: 'Hello', finish: 'stop' })
    const last = chunks.find(({ choices }) => choices[0]?.finish_reason === 'stop')
    expect(last!.choices[0]).to.deep.include({ content_filter_offsets: { end_offset: 5 } })
  })

  it('that stop a reply are a content_filter finish', () => {
    expect(gather(listen(azureReply({ text: 'I will', finish: 'content_filter' }).stream).chunks).choices[0]).to.include({
      content: 'I will',
      finish: 'content_filter',
    })
  })
})

describe('azure-openai: a refusal of a content filter', () => {
  it('of a prompt is a 400 content_filter', () => {
    const refusal = provider.error!({ status: 400, headers: {}, body: JSON.stringify(BLOCKED.body) })
    expect(refusal).to.include({ status: 400, code: 'content_filter', param: 'prompt' })
  })

  it('of a stream before any text is a 400 content_filter', () => {
    const { chunks, failure } = listen([FIRST, event(BLOCKED.body)])
    expect(chunks).to.deep.equal([])
    expect(failure).to.include({ status: 400, code: 'content_filter', param: 'prompt' })
  })

  it('within a stream ends it with the error', () => {
    const { failure, done } = listen([...azureReply({ text: 'Hello' }).stream.slice(0, 3), event(BLOCKED.body)])
    expect(done).to.equal(false)
    expect(failure).to.include({ code: 'content_filter' })
  })
})

describe('azure-openai: a stream', () => {
  it('with filter results only fails', () => {
    expect(listen([FIRST, 'data: [DONE]\n\n'])).to.deep.include({ chunks: [], done: false })
  })

  it('fails without the end marker of OpenAI', () => {
    const { stream } = azureReply({ text: 'Hello' })
    expect(listen(stream.slice(0, 3)).done).to.equal(false)
  })
})

const meaningOf = (status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) =>
  provider.error!({ status, headers, body: JSON.stringify(failure(status, code, message).body) })

describe('azure-openai: an error reply', () => {
  for (const [status, code, message, expected] of [
    [401, '401', 'Access denied due to invalid subscription key.', { status: 401 }],
    [401, 'PermissionDenied', 'The principal lacks the required data action.', { status: 401 }],
    [403, '403', 'Access denied due to Virtual Network/Firewall rules.', { status: 403 }],
    [403, '403', 'Out of call volume quota for OpenAI F0 pricing tier.', { status: 429, code: 'insufficient_quota' }],
    [404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.', { status: 404 }],
    [429, 'RateLimitReached', 'Your requests have exceeded the token rate limit.', { status: 429 }],
    [429, 'NoCapacity', 'The system is currently experiencing high demand.', { status: 429 }],
    [500, 'InternalServerError', 'Internal server error', { status: 500 }],
  ] as const) {
    it(`${status} ${code} "${message}" is read as ${JSON.stringify(expected)}`, () => {
      expect(meaningOf(status, code, message)).to.include(expected)
    })
  }

  it('has the time to wait in a header, in milliseconds first, or in its message', () => {
    const words = 'Please retry after 26 seconds.'
    expect(meaningOf(429, '429', words, { 'retry-after-ms': '1500', 'retry-after': '2' }).retryAfter).to.equal(1.5)
    expect(meaningOf(429, '429', words, { 'retry-after': '2' }).retryAfter).to.equal(2)
    expect(meaningOf(429, '429', words).retryAfter).to.equal(26)
    expect(meaningOf(429, '429', 'Slow down.')).not.to.have.property('retryAfter')
  })

  it('of a proxy is read by its status', () => {
    expect(provider.error!({ status: 502, headers: {}, body: '<html>' })).to.deep.equal({ status: 502 })
  })
})

describe('azure-openai: documented replies of OpenAI, as Azure sends them', () => {
  it('a whole text', async () => {
    const whole = JSON.parse(documentedReply('openai-text'))
    const { choices, usage } = runTranslator(await azure(), { whole })
    expect(choices[0]!.message).to.deep.include(whole.choices[0].message)
    expect(usage).to.deep.equal(whole.usage)
  })

  it('a streamed text', async () => {
    const events = documentedChunks('openai-text').map((data) => `data: ${data}\n\n`)
    const { chunks, done } = runTranslator(await azure(), { stream: [FIRST, ...events] })
    expect(done).to.equal(true)
    expect(gather(chunks).choices[0]!.content).to.have.length.above(10)
    expect(gather(chunks).choices[0]!.finish).to.equal('stop')
  })
})
