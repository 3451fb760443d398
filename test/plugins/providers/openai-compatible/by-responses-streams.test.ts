import { expect } from 'chai'
import fc from 'fast-check'
import { type ClientWire, OPENAI_WIRE, type ReplyWriter } from '../../../../core/protocol/client-protocol.ts'
import { MESSAGES_WIRE } from '../../../../core/protocol/messages/endpoint.ts'
import { MessageStreamWriter } from '../../../../core/protocol/messages/stream.ts'
import { readWire } from '../../../../core/testing/conformance/expect-reply.ts'
import { readMessageStream } from '../../../../core/testing/conformance/read-messages.ts'
import { gather, type Said } from '../../../../core/testing/kit.ts'
import { responsesReply } from '../../../../core/testing/upstream/responses-reply.ts'
import { ChunkWriter, TranslatedReader } from '../../../../core/upstream/readers/translated.ts'
import { ResponseTranslator } from '../../../../plugins/providers/openai-compatible/by-responses/stream.ts'
import { type MakeReader, play, split } from '../../../core/upstream/play.ts'

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })

/** What a model says, and how its server writes lines, and comments among the events. */
const stream = fc.record({
  said: fc
    .record(
      {
        reasoning: words,
        text: words,
        refusal: words,
        tools: fc.array(fc.record({ name: fc.constant('look'), arguments: fc.dictionary(words, words, { maxKeys: 2 }) }), {
          maxLength: 2,
        }),
      },
      { requiredKeys: [] },
    )
    .filter(({ text, refusal, tools = [] }) => text !== undefined || refusal !== undefined || tools.length > 0),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  comments: fc.boolean(),
})

const bytesOf = ({ said, lineEnd, comments }: { said: Said; lineEnd: string; comments: boolean }): Buffer => {
  const events = responsesReply(said).stream.map((one) => (comments ? `: ping — ✓\n\n${one}` : one))
  return Buffer.from(events.join('').replaceAll('\n', lineEnd))
}

/** A `response.output_text.delta`. */
interface TextDelta {
  readonly type: string
  readonly output_index: number
  readonly content_index: number
  readonly delta: string
}

/** As OpenAI writes them, as it did before, and as servers do that sort members; of the last, nothing is cut out. */
const WRITERS: readonly ((delta: TextDelta) => object)[] = [
  ({ type, output_index, content_index, delta }) => ({
    type,
    sequence_number: 4,
    item_id: 'msg_1',
    output_index,
    content_index,
    delta,
    logprobs: [],
    obfuscation: 'x2tAyQ',
  }),
  ({ type, output_index, content_index, delta }) => ({
    type,
    item_id: 'msg_1',
    output_index,
    content_index,
    delta,
    sequence_number: 4,
  }),
  ({ type, output_index, content_index, delta }) => ({
    content_index,
    delta,
    item_id: 'msg_1',
    logprobs: [],
    output_index,
    type,
  }),
]

/** An event; a piece of text as `write` has it. */
function rewritten(event: string, write: (delta: TextDelta) => object): string {
  // A dot would end at U+2028, which JSON does not escape.
  return event.replace(/^data: ([^\n]*"type":"response\.output_text\.delta"[^\n]*)$/m, (_, json: string) => {
    const { output_index, content_index = 0, delta, type } = JSON.parse(json)
    return `data: ${JSON.stringify(write({ type, output_index, content_index, delta }))}`
  })
}

/** One that is split and cut at each of its bytes. */
const RICH = {
  said: { reasoning: 'Hm ✓', text: '👋', tools: [{ name: 'look', arguments: { ü: 'é' } }] },
  lineEnd: '\r\n',
  comments: true,
}

/** What a client has of a stream that ended well. */
interface Understood {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly unknown[]
}

/** The stream of a protocol that clients speak. */
interface Protocol {
  readonly wire: ClientWire
  make(): ReplyWriter
  /** Throws an `AssertionError` for a stream that breaks the rules of the protocol, or does not end well. */
  whole(text: string): Understood
  /** The same, for one that ends with an error. */
  expectBroken(text: string): void
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  'chat completions': {
    wire: OPENAI_WIRE,
    make: () => new ChunkWriter(),
    whole(text) {
      const [choice] = gather(readWire(text, true)).choices
      const { content, refusal, reasoning, tools } = choice!
      return { text: content + refusal, reasoning, calls: tools.map(({ name, arguments: json }) => [name, JSON.parse(json)]) }
    },
    expectBroken(text) {
      const frames = text.split('\n\n').slice(0, -1)
      const last = JSON.parse(frames.at(-1)!.slice('data: '.length))
      expect(last.error).to.include({ code: 'upstream_disconnected' })
      const before = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice('data: '.length)))
      for (const { choices } of before) for (const { finish_reason } of choices) expect(finish_reason).to.equal(null)
    },
  },
  Messages: {
    wire: MESSAGES_WIRE,
    make: () =>
      new MessageStreamWriter({
        model: 'open/m',
        owner: undefined,
        promptEstimate: 7,
        large: false,
        member: () => undefined,
        mayInclude: () => false,
        keeper: { namespace: 'n', account: 'a', secret: 's' },
      }),
    whole(text) {
      const { content, error, stop } = readMessageStream(text)
      expect([error, typeof stop]).to.deep.equal([undefined, 'string'])
      const joined = (type: string) => content.map((block) => (block.type === type ? String(block[type]) : '')).join('')
      const calls = content.filter(({ type }) => type === 'tool_use').map(({ name, input }) => [name, input])
      return { text: joined('text'), reasoning: joined('thinking'), calls }
    },
    expectBroken: (text) => expect(readMessageStream(text).error).to.include({ type: 'api_error' }),
  },
}

for (const [name, { wire, make, whole, expectBroken }] of Object.entries(PROTOCOLS)) {
  describe(`Random streams of the Responses API, as ${name}`, () => {
    const reading: MakeReader = (relay) => {
      relay.attach({ pause: () => undefined, resume: () => undefined }, 'utf8')
      return new TranslatedReader({
        translator: new ResponseTranslator('gpt-x'),
        call: { model: 'open/m', includeUsage: true, choices: 1, size: 28 },
        stream: relay,
        transforms: [],
        hold: false,
        writer: make(),
      })
    }

    it('are legal and complete', () => {
      fc.assert(
        fc.property(stream, (one) => {
          const { text, ending } = play(reading, [bytesOf(one)], wire)
          expect(ending).to.equal('ended')
          const { said } = one
          expect(whole(text)).to.deep.equal({
            text: (said.text ?? '') + (said.refusal ?? ''),
            reasoning: said.reasoning ?? '',
            calls: (said.tools ?? []).map(({ name: called, arguments: values }) => [called, values]),
          })
        }),
        { numRuns: 200 },
      )
    })

    it('are the same however their server writes the members of a text', () => {
      fc.assert(
        fc.property(stream, ({ said }) => {
          const { stream: events } = responsesReply(said)
          const heard = (write: (delta: TextDelta) => object) =>
            whole(play(reading, [Buffer.from(events.map((each) => rewritten(each, write)).join(''))], wire).text)
          const [first, ...others] = WRITERS.map(heard)
          for (const other of others) expect(other).to.deep.equal(first)
          expect(first!.text).to.equal((said.text ?? '') + (said.refusal ?? ''))
        }),
        { numRuns: 200 },
      )
    })

    it('are the same wherever their bytes are split', () => {
      const heard = (bytes: Buffer, places: readonly number[]) => whole(play(reading, split(bytes, places), wire).text)
      fc.assert(
        fc.property(stream, fc.nat(), (one, place) => {
          const bytes = bytesOf(one)
          expect(heard(bytes, [place % bytes.length])).to.deep.equal(heard(bytes, []))
        }),
        { numRuns: 200 },
      )
      const bytes = bytesOf(RICH)
      const unsplit = heard(bytes, [])
      for (const place of bytes.keys()) expect(heard(bytes, [place])).to.deep.equal(unsplit)
    })

    it('end with an error wherever they are cut, and never with a finish', () => {
      const expectCut = (bytes: Buffer, place: number) => {
        const { text, ending, failure } = play(reading, [bytes.subarray(0, place)], wire)
        expect(failure).to.include({ row: 'upstream_disconnected' })
        if (text === '') return
        expect(ending).to.equal('broken')
        expectBroken(text)
      }
      // After the last event only the end of its frame is missing.
      const endOf = (bytes: Buffer) => bytes.lastIndexOf('}') + 1
      fc.assert(
        fc.property(stream, fc.nat(), (one, place) => {
          const bytes = bytesOf(one)
          expectCut(bytes, place % endOf(bytes))
        }),
        { numRuns: 200 },
      )
      const bytes = bytesOf(RICH)
      for (let place = 0; place < endOf(bytes); place++) expectCut(bytes, place)
    })
  })
}
