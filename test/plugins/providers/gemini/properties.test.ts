import { expect } from 'chai'
import fc from 'fast-check'
import { gather, runTranslator } from 'unified-model-gateway/plugin/testing'
import type { Content, FunctionCall, GenerateRequest } from '../../../../plugins/providers/gemini/wire.ts'
import { anyRequest, anyWords, expectTakenOrRefused } from '../../../support/any-request.ts'
import { readChunks } from '../../../support/read-chunks.ts'
import { functionsIn, gemini, translate } from './gemini.ts'
import { event } from './generate-content.ts'

const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const file = (file_data: string) => ({ type: 'file', file: { file_data } })
const URLS = ['https://a.example/b.png', 'gs://a/b', 'data:image/png;base64,QQ==']

const request = anyRequest({
  models: [
    'gemini-2.0-flash',
    'gemini-2.5-pro',
    'gemini-2.5-flash',
    'gemini-3-pro-preview',
    'gemini-3.8-flash',
    'gemma-4',
    'new',
  ],
  parts: [
    ...URLS.map(image),
    ...URLS.map(file),
    { type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } },
    image('nowhere'),
  ],
  extraContent: fc.record({
    google: fc.oneof(fc.constant('x'), fc.record({ thought_signature: fc.constantFrom('', 'c2ln', 7) })),
  }),
  fields: {
    frequency_penalty: fc.double({ min: -2, max: 2, noNaN: true }),
    seed: fc.maxSafeInteger(),
    n: fc.constantFrom(1, 2, null),
    logprobs: fc.boolean(),
  },
})

describe('gemini: random valid requests', () => {
  it('are translated to valid requests, or refused with a reason', () => expectTakenOrRefused(request, translate, expectTakeable))
})

function expectTakeable({ contents, tools, toolConfig, generationConfig: config = {} }: GenerateRequest): void {
  expect(contents).not.to.deep.equal([])
  for (const [index, { role, parts }] of contents.entries()) {
    expect(parts, 'no empty turn').not.to.deep.equal([])
    for (const one of parts) if ('text' in one) expect(one.text, 'no empty text').not.to.equal('')
    const calls = role === 'model' ? callsOf(contents[index]) : []
    const answers = responsesOf(contents[index + 1])
    expect(answers, 'the results of a step follow it, in its order').to.deep.equal(calls)
    if (responsesOf(contents[index]).length > 0) {
      expect(parts, 'results stand alone').to.have.lengthOf(responsesOf(contents[index]).length)
      expect(contents[index - 1]?.role).to.equal('model')
    }
  }
  const mode = toolConfig?.functionCallingConfig.mode
  if (toolConfig) expect(functionsIn(tools).length).to.be.greaterThan(0)
  if (toolConfig?.functionCallingConfig.allowedFunctionNames) expect(mode).to.equal('ANY')
  if (config.responseMimeType) expect(mode, 'a format where there is no answer').not.to.equal('ANY')
  if (config.responseJsonSchema) expect(config).to.include({ responseMimeType: 'application/json' })
  for (const sequence of config.stopSequences ?? []) expect(sequence).not.to.equal('')
  if (config.seed !== undefined) expect(config.seed).to.be.within(0, 2 ** 31 - 1)
  if (config.thinkingConfig)
    expect(config.thinkingConfig).to.satisfy((thinking: object) => 'thinkingLevel' in thinking !== 'thinkingBudget' in thinking)
}

const nameAndId = ({ id, name }: Pick<FunctionCall, 'id' | 'name'>) => ({ id, name })
const callsOf = (turn: Content | undefined) =>
  turn?.parts.flatMap((one) => ('functionCall' in one ? [nameAndId(one.functionCall)] : [])) ?? []
const responsesOf = (turn: Content | undefined) =>
  turn?.parts.flatMap((one) => ('functionResponse' in one ? [nameAndId(one.functionResponse)] : [])) ?? []

const finish = fc.constantFrom('STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'OTHER', 'SOMETHING_NEW')
const replyPart = fc.oneof(
  fc.record({ text: anyWords }),
  fc.record({ text: anyWords, thought: fc.constant(true) }),
  fc.record({ text: fc.constant(''), thoughtSignature: fc.constant('c2ln') }),
  fc.record({
    functionCall: fc.record(
      { name: fc.constantFrom('look', 'listen'), args: fc.dictionary(fc.string(), fc.jsonValue()), id: fc.constantFrom('x', '') },
      { requiredKeys: ['name'] },
    ),
    thoughtSignature: fc.option(fc.constant('c2ln'), { nil: undefined }),
  }),
)
const usage = fc.record(
  { promptTokenCount: fc.nat(999), candidatesTokenCount: fc.nat(999), thoughtsTokenCount: fc.nat(999) },
  { requiredKeys: [] },
)

/** A stream as Google documents it: parts in any grouping, and a finish. */
const validStream = fc
  .record({
    groups: fc.array(fc.array(replyPart, { maxLength: 3 }), { maxLength: 5 }),
    finishReason: finish,
    usage,
    responseId: fc.constantFrom('r-1', undefined),
  })
  // An end without any part is refused.
  .filter(({ groups }) => groups.flat().length > 0)
  .map(({ groups, finishReason, usage: usageMetadata, responseId }) => ({
    parts: groups.flat(),
    events: [
      ...groups.map((parts) => event({ candidates: [{ content: { parts, role: 'model' } }], responseId })),
      event({ candidates: [{ content: { parts: [], role: 'model' }, finishReason }], usageMetadata, responseId }),
    ],
  }))

/** What a hostile or broken upstream may send: the protocol's members with any values. */
const anything = fc.oneof(fc.constantFrom('STOP', null, [], {}), fc.integer(), fc.jsonValue())
const brokenEvent = fc.record(
  {
    responseId: anything,
    candidates: fc.oneof(
      anything,
      fc.array(
        fc.oneof(
          anything,
          fc.record(
            {
              index: anything,
              content: fc.oneof(
                anything,
                fc.record({
                  parts: fc.array(
                    fc.oneof(
                      anything,
                      fc.record(
                        {
                          text: anything,
                          thought: anything,
                          thoughtSignature: anything,
                          functionCall: fc.oneof(anything, fc.record({ name: anything, args: anything, id: anything })),
                          inlineData: fc.oneof(anything, fc.record({ mimeType: anything, data: anything })),
                        },
                        { requiredKeys: [] },
                      ),
                    ),
                    { maxLength: 3 },
                  ),
                }),
              ),
              finishReason: anything,
              logprobsResult: fc.oneof(
                anything,
                fc.record({ chosenCandidates: fc.array(anything), topCandidates: fc.array(anything) }),
              ),
            },
            { requiredKeys: [] },
          ),
        ),
        { maxLength: 2 },
      ),
    ),
    promptFeedback: fc.oneof(anything, fc.record({ blockReason: anything })),
    usageMetadata: fc.oneof(anything, fc.record({ promptTokenCount: anything, promptTokensDetails: fc.array(anything) })),
    error: fc.option(anything, { nil: undefined }),
  },
  { requiredKeys: [] },
)

describe('gemini: random streams', () => {
  it('of valid events are translated completely', async () => {
    const provider = await gemini()
    fc.assert(
      fc.property(validStream, ({ parts, events }) => {
        const { chunks, done } = runTranslator(provider, { stream: events })
        expect(done).to.equal(true)
        readChunks(chunks)
        const { content, reasoning, tools } = gather(chunks).choices[0]!
        const texts = (isThought: boolean) =>
          parts.map((one) => ('text' in one && 'thought' in one === isThought ? one.text : '')).join('')
        expect({ content, reasoning }).to.deep.equal({ content: texts(false), reasoning: texts(true) })
        const called = parts.flatMap((one) => ('functionCall' in one ? [one.functionCall] : []))
        expect(tools.map(({ name, arguments: text }) => ({ name, args: text }))).to.deep.equal(
          called.map(({ name, args }) => ({ name, args: JSON.stringify(args ?? {}) })),
        )
      }),
      { numRuns: 500 },
    )
  })

  it('of invalid events are readable or fail', async () => {
    const provider = await gemini()
    fc.assert(
      fc.property(fc.array(brokenEvent, { maxLength: 5 }), (events) => {
        const { chunks, done, failure } = runTranslator(provider, { stream: events.map(event) })
        expect(done).to.equal(failure === undefined)
        if (done) readChunks(chunks)
      }),
      { numRuns: 500 },
    )
  })
})
