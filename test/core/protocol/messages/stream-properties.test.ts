import { expect } from 'chai'
import fc from 'fast-check'
import { MESSAGES_WIRE } from '../../../../core/protocol/messages/errors.ts'
import { MessageStreamWriter } from '../../../../core/protocol/messages/stream.ts'
import { openaiTranslator } from '../../../../core/sdk/api.ts'
import { type ReadStream, readMessageStream } from '../../../../core/testing/conformance/read-messages.ts'
import { DONE, event } from '../../../../core/testing/kit.ts'
import { TranslatedReader } from '../../../../core/upstream/readers/translated.ts'
import { type MakeReader, play, split } from '../../upstream/play.ts'

/** A client of the Messages API before an upstream that speaks OpenAI's protocol. */
const reading: MakeReader = (relay) => {
  relay.attach({ pause: () => undefined, resume: () => undefined }, 'utf8')
  return new TranslatedReader({
    translator: openaiTranslator(),
    call: { model: 'open/m', includeUsage: true, choices: 1 },
    stream: relay,
    transforms: [],
    hold: false,
    writer: new MessageStreamWriter({ model: 'open/m', promptEstimate: 7 }),
  })
}

/** A tool call of a stream, and the pieces of its arguments. */
interface Call {
  readonly name: string
  readonly input: object
  readonly pieces: readonly string[]
  readonly signature: string | undefined
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })

const call: fc.Arbitrary<Call> = fc
  .record({
    name: fc.constantFrom('look', 'wait'),
    input: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()), { maxKeys: 3 }),
    cuts: fc.array(fc.nat({ max: 40 }), { maxLength: 4 }),
    signature: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  })
  .map(({ name, input, cuts, signature }) => {
    const json = JSON.stringify(input)
    const edges = [0, ...cuts.filter((cut) => cut < json.length).sort((a, b) => a - b), json.length]
    const pieces = edges.slice(1).map((edge, index) => json.slice(edges[index], edge))
    return { name, input, pieces, signature }
  })

/** What an upstream says, and in which order the parts of its calls come. */
const reply = fc.record({
  words: fc.array(fc.tuple(fc.constantFrom('content', 'reasoning_content', 'reasoning', 'refusal'), text), { maxLength: 6 }),
  calls: fc.array(call, { maxLength: 3 }),
  /** Texts among the parts of the calls. */
  between: fc.array(text, { maxLength: 2 }),
  order: fc.infiniteStream(fc.nat()),
  usage: fc.boolean(),
})

type Reply = typeof reply extends fc.Arbitrary<infer Value> ? Value : never

/** The events of a reply; the parts of its calls are interleaved. */
function eventsOf({ words, calls, between, order, usage }: Reply): string[] {
  const starts = calls.map(({ name, signature }, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: '' },
    ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
  }))
  const lanes = [
    ...calls.map(({ pieces }, index) => [
      { tool_calls: [starts[index]] },
      ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    between.map((content) => ({ content })),
  ]
  const deltas: object[] = words.map(([member, piece]) => ({ [member]: piece }))
  while (lanes.some((lane) => lane.length > 0)) {
    const open = lanes.filter((lane) => lane.length > 0)
    deltas.push(open[order.next().value! % open.length]!.shift()!)
  }
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({ ...head, choices: [{ index: 0, delta, finish_reason }] })
  const tokens = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13, prompt_tokens_details: { cached_tokens: 2 } }
  return [
    chunk({ role: 'assistant', content: '' }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(usage ? [event({ ...head, choices: [], usage: tokens })] : []),
    DONE,
  ]
}

const joined = ({ content }: ReadStream, type: string): string =>
  content.flatMap((block) => (block.type === type ? String(block[type]) : [])).join('')

function expectSaid(read: ReadStream, { words, calls, between, usage }: Reply): void {
  const said = (...members: string[]) => words.flatMap(([member, piece]) => (members.includes(member) ? piece : [])).join('')
  const tools = read.content.filter(({ type }) => type === 'tool_use')
  expect(joined(read, 'text')).to.equal(said('content', 'refusal') + between.join(''))
  expect(joined(read, 'thinking')).to.equal(said('reasoning_content', 'reasoning'))
  expect(tools.map(({ id, name, input }) => ({ id, name, input }))).to.have.deep.members(
    calls.map(({ name, input }, index) => ({ id: `call_${index}`, name, input })),
  )
  expect(read.stop).to.equal(said('refusal') !== '' ? 'refusal' : calls.length > 0 ? 'tool_use' : 'end_turn')
  if (usage) expect(read.usage).to.include({ input_tokens: 7, cache_read_input_tokens: 2, output_tokens: 4 })
  else expect(read.usage.input_tokens).to.equal(7)
}

describe('A stream of chunks as a stream of the Messages API', () => {
  it('is legal and complete, whatever the order of its parts', () => {
    fc.assert(
      fc.property(reply, (said) => {
        const { text: sent, ending } = play(reading, [Buffer.from(eventsOf(said).join(''))], MESSAGES_WIRE)
        expect(ending).to.equal('ended')
        expectSaid(readMessageStream(sent), said)
      }),
      { numRuns: 300 },
    )
  })

  it('ends with an error event wherever it is cut, and never with a finish', () => {
    fc.assert(
      fc.property(reply, fc.nat(), (said, place) => {
        const events = eventsOf(said)
        const whole = Buffer.from(events.join(''))
        // Before the finish: after it, a stream without its end marker is complete.
        const end = Buffer.from(events.slice(0, said.usage ? -3 : -2).join('')).length
        const { text: sent, ending, failure } = play(reading, [whole.subarray(0, place % end)], MESSAGES_WIRE)
        expect(failure).to.include({ row: 'upstream_disconnected' })
        if (sent === '') return
        expect(ending).to.equal('broken')
        expect(readMessageStream(sent).error).to.deep.equal({
          type: 'api_error',
          message: 'The upstream closed the connection before its reply was complete.',
        })
      }),
      { numRuns: 300 },
    )
  })

  it('is the same wherever its bytes are split', () => {
    const words: Reply['words'] = [
      ['reasoning', 'Hm, naïve?'],
      ['content', 'Grüße 👋'],
    ]
    const bytes = Buffer.from(
      eventsOf({ words, calls: [], between: [], usage: true, order: fc.sample(reply, 1)[0]!.order }).join(''),
    )
    const whole = play(reading, [bytes], MESSAGES_WIRE).text
    for (const place of bytes.keys()) expect(play(reading, split(bytes, [place]), MESSAGES_WIRE).text).to.equal(whole)
  })
})
