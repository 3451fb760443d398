import { expect } from 'chai'
import { GatewayError } from 'unified-model-gateway/plugin'
import { gather } from 'unified-model-gateway/plugin/testing'
import { complete, listen } from './gemini.ts'
import { event, reply, thought } from './generate-content.ts'

/** The finish of a candidate, whole and streamed, as the client reads it. */
async function ending(parts: readonly object[], finishReason: string) {
  const both = reply(parts, { finishReason })
  const { choices } = await complete(both.whole)
  const streamed = gather((await listen(both.stream)).chunks).choices[0]!
  expect(streamed).to.deep.include({ content: choices[0]!.message.content ?? '', finish: choices[0]!.finish_reason })
  return { content: choices[0]!.message.content, finish: choices[0]!.finish_reason }
}

/** The error of an unusable reply. */
async function failing(both: { readonly whole: object; readonly stream: readonly string[] }) {
  const whole = await complete(both.whole).catch((error: unknown) => error)
  const { failure, done } = await listen(both.stream)
  expect(whole).to.be.instanceOf(GatewayError)
  expect(done, '[DONE]').to.equal(false)
  return { whole: (whole as GatewayError).row, streamed: failure?.row }
}

describe('gemini: the finish reason', () => {
  for (const [reason, finish] of [
    ['STOP', 'stop'],
    ['OTHER', 'stop'],
    ['FINISH_REASON_UNSPECIFIED', 'length'],
    ['A_REASON_YET_TO_COME', 'length'],
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
    ['IMAGE_RECITATION', 'content_filter'],
    ['IMAGE_OTHER', 'content_filter'],
  ] as const) {
    it(`${reason} becomes ${finish}`, async () => {
      expect(await ending([{ text: 'I will' }], reason)).to.deep.equal({ content: 'I will', finish })
    })
  }

  it('MAX_TOKENS before any text is an empty answer', async () => {
    for (const content of [undefined, null, {}, { role: 'model' }, { parts: [] }]) {
      const candidate = { ...(content !== undefined && { content }), finishReason: 'MAX_TOKENS', index: 0 }
      const { choices } = await complete({ candidates: [candidate] })
      expect(choices[0]).to.nested.include({ 'message.content': '', finish_reason: 'length' })
      const { chunks, done } = await listen([event({ candidates: [candidate] })])
      expect(done).to.equal(true)
      expect(gather(chunks).choices[0]).to.deep.include({ content: '', finish: 'length' })
    }
  })

  it('MAX_TOKENS within a call becomes length', async () => {
    expect(await ending([{ functionCall: { name: 'look', args: {} } }], 'MAX_TOKENS')).to.include({ finish: 'length' })
  })

  for (const reason of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE']) {
    it(`${reason} is an upstream error`, async () => {
      const failed = await failing(reply([{ text: 'I' }], { finishReason: reason }))
      expect(failed).to.deep.equal({ whole: 'upstream_error', streamed: 'upstream_error' })
    })
  }
})

describe('gemini: a blocked prompt', () => {
  const BLOCKED = {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
    responseId: 'EXCPatOAKMrQjMcPteHVmQo',
  }

  it('is a choice with finish_reason content_filter', async () => {
    const { choices, usage } = await complete(BLOCKED)
    expect(choices).to.have.lengthOf(1)
    expect(choices[0]).to.nested.include({ 'message.content': '', finish_reason: 'content_filter' })
    expect(usage).to.include({ prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 })
  })

  it('is a finish_reason content_filter in a stream', async () => {
    const { chunks, done, usage } = await listen([event(BLOCKED)])
    expect(done).to.equal(true)
    expect(gather(chunks).choices).to.deep.equal([
      { content: '', reasoning: '', refusal: '', tools: [], finish: 'content_filter' },
    ])
    expect(usage).to.include({ prompt_tokens: 9 })
  })

  it('finishes every requested choice of a stream', async () => {
    const { chunks, done } = await listen([event(BLOCKED)], { n: 2 })
    expect(done).to.equal(true)
    expect(gather(chunks).choices.map(({ finish }) => finish)).to.deep.equal(['content_filter', 'content_filter'])
  })
})

describe('gemini: a stream', () => {
  const CHUNKS = reply([thought('Hm.'), { text: 'Hel' }, { text: 'lo' }]).stream

  it('has its role once, and the same id, model and time in every chunk', async () => {
    const { chunks } = await listen(CHUNKS, { model: 'google/gemini-3-pro-preview' })
    expect(chunks.filter(({ choices }) => choices[0]?.delta.role)).to.have.lengthOf(1)
    const heads = new Set(chunks.map(({ id, model, created }) => JSON.stringify({ id, model, created })))
    expect(heads.size).to.equal(1)
    expect(chunks[0]).to.include({ id: 'b36LacjwM668nsEP2tbsgQQ', model: 'google/gemini-3-pro-preview' })
  })

  it('without a finish reason is incomplete', async () => {
    const { done, failure } = await listen(CHUNKS.slice(0, -1))
    expect({ done, row: failure?.row }).to.deep.equal({ done: false, row: 'upstream_disconnected' })
  })

  it('without a candidate fails', async () => {
    const { done, failure } = await listen([event({ candidates: [], usageMetadata: { promptTokenCount: 3 } })])
    expect({ done, row: failure?.row }).to.deep.equal({ done: false, row: 'upstream_disconnected' })
  })

  it('may continue after its finish reason', async () => {
    const late = event({ candidates: [{ content: { parts: [{ text: '!' }] }, index: 0 }] })
    const { chunks, done } = await listen([...CHUNKS, late])
    expect(done).to.equal(true)
    expect(gather(chunks).choices[0]).to.include({ content: 'Hello!', finish: 'stop' })
  })

  it('of other data fails', async () => {
    for (const data of ['7', 'null', '"text"', 'not JSON', '{"candidates":7}', '{}']) {
      const { done, failure } = await listen([`data: ${data}\n\n`])
      expect(done, data).to.equal(false)
      expect(failure?.row, data).to.match(/^upstream_(?:invalid_response|disconnected)$/)
    }
  })

  it('of two choices keeps them separate', async () => {
    const two = (a: string, b: string, more: object = {}) =>
      event({
        candidates: [
          { content: { parts: [{ text: a }] }, index: 0, ...more },
          { content: { parts: [{ text: b }] }, index: 1, ...more },
        ],
      })
    const { chunks } = await listen([two('A', 'B'), two('a', 'b', { finishReason: 'STOP' })], { n: 2 })
    expect(gather(chunks).choices.map(({ content, finish }) => ({ content, finish }))).to.deep.equal([
      { content: 'Aa', finish: 'stop' },
      { content: 'Bb', finish: 'stop' },
    ])
  })

  for (const [how, text] of [
    ['as an event', 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\r\n\r\n'],
    ['as JSON of several lines', '{\n  "error": {\n    "code": 503,\n    "status": "UNAVAILABLE"\n  }\n}\n'],
    ['in an array', '[{"error":{"code":503,"status":"UNAVAILABLE"}}]'],
  ] as const) {
    it(`with an error written ${how} fails with the error`, async () => {
      const { done, failure } = await listen([...CHUNKS.slice(0, 2), text])
      expect({ done, row: failure?.row }).to.deep.equal({ done: false, row: 'upstream_overloaded' })
    })
  }
})

describe('gemini: usage', () => {
  const usageOf = async (usage: object) => (await complete(reply([{ text: 'Hi.' }], { usage }).whole)).usage

  it("includes thoughts in the completion and Google's tool results in the prompt", async () => {
    const usage = await usageOf({
      promptTokenCount: 55,
      toolUsePromptTokenCount: 89,
      candidatesTokenCount: 51,
      thoughtsTokenCount: 56,
      totalTokenCount: 251,
    })
    expect(usage).to.deep.include({ prompt_tokens: 144, completion_tokens: 107, total_tokens: 251 })
    expect(usage).to.nested.include({ 'completion_tokens_details.reasoning_tokens': 56 })
  })

  it('counts sound and images separately', async () => {
    const usage = await usageOf({
      promptTokenCount: 30,
      candidatesTokenCount: 5,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 10 },
        { modality: 'AUDIO', tokenCount: 20 },
        { modality: 'SMELL', tokenCount: 1 },
      ],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 5 }],
    })
    expect(usage?.prompt_tokens_details).to.deep.equal({ text_tokens: 10, audio_tokens: 20, cached_tokens: 0 })
    expect(usage?.completion_tokens_details).to.deep.equal({ image_tokens: 5, reasoning_tokens: 0 })
  })

  it('of a stream is the last one reported', async () => {
    const { usage } = await listen([
      event({
        candidates: [{ content: { parts: [{ text: 'a' }] } }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 },
      }),
      event({ candidates: [{ finishReason: 'STOP' }], usageMetadata: { candidatesTokenCount: 4 } }),
      event({ usageMetadata: { trafficType: 'ON_DEMAND' } }),
    ])
    expect(usage).to.include({ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 })
  })

  it('is absent if Google does not report it', async () => {
    expect(await usageOf({ trafficType: 'ON_DEMAND' })).to.equal(undefined)
  })

  it('is absent for invalid counts', async () => {
    expect(await usageOf({ promptTokenCount: 'many', candidatesTokenCount: -3, promptTokensDetails: 7 })).to.equal(undefined)
  })
})

describe('gemini: content other than text', () => {
  it("has the model's images", async () => {
    const both = reply([{ text: 'Here:' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }])
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }]
    expect((await complete(both.whole)).choices[0]!.message).to.deep.include({ content: 'Here:', images })
    const deltas = (await listen(both.stream)).chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
    expect(deltas.filter((delta) => delta.images)).to.deep.equal([{ images }])
  })

  it('omits code that Google ran', async () => {
    const code = { executableCode: { code: 'print(1)' } }
    expect((await complete(reply([code, { text: '1' }]).whole)).choices[0]!.message.content).to.equal('1')
  })

  it('has log probabilities, whole and streamed', async () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'é', tokenId: 7, logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'e', logProbability: -1 }, {}] }],
    }
    const said = {
      content: [
        {
          token: 'é',
          logprob: -0.5,
          bytes: [195, 169],
          top_logprobs: [
            { token: 'e', logprob: -1, bytes: [101] },
            { token: '', logprob: -9999, bytes: [] },
          ],
        },
      ],
      refusal: null,
    }
    const candidate = { content: { parts: [{ text: 'é' }, { text: '!' }] }, logprobsResult, finishReason: 'STOP' }
    expect((await complete({ candidates: [candidate] })).choices[0]!.logprobs).to.deep.equal(said)
    const { chunks } = await listen([event({ candidates: [candidate] })])
    const told = chunks.flatMap(({ choices }) => choices).filter(({ logprobs }) => logprobs)
    expect(told.map(({ delta, logprobs }) => ({ content: delta.content, logprobs }))).to.deep.equal([
      { content: 'é', logprobs: said },
    ])
  })
})
