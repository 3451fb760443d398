import { expect } from 'chai'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { EventTooLongError, MAX_EVENT, type RunReader, SseReader } from '../../../core/protocol/sse.ts'
import { split } from '../upstream/play.ts'

interface Read {
  readonly data: string
  readonly type: string
}

function read(pieces: readonly Buffer[]): (Read & { readonly frame: string })[] {
  const events: (Read & { readonly frame: string })[] = []
  const reader = new SseReader((data, frame, type) => events.push({ data: utf8(data), frame: utf8(frame), type: utf8(type) }))
  for (const piece of pieces) reader.push(piece)
  return events
}

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString()

/** What another parser makes of the same text. */
function oracle(text: string): Read[] {
  const events: Read[] = []
  createParser({ onEvent: ({ data, event = '' }) => events.push({ data, type: event }) }).feed(text)
  return events
}

/** Texts made of what matters to a parser, and some of what does not. */
const token = fc.constantFrom(
  'data',
  'event',
  'id',
  'retry',
  ':',
  ': ',
  ' ',
  '{}',
  '[DONE]',
  'é',
  '🌍',
  'x',
  '\n',
  '\n',
  '\r',
  '\r\n',
  '\n\n',
)
const stream = fc
  .tuple(fc.constantFrom('', '\uFEFF'), fc.array(token, { maxLength: 60 }))
  // The end is settled, so that both see the same last event.
  .map(([bom, tokens]) => `${bom}${tokens.join('')}\n\n: end\n\n`)
const places = fc.array(fc.nat(), { maxLength: 12 })

/** Events as streams of JSON have them, and what comes between them or instead. */
const event = fc.constantFrom(
  'data: {"a":1}\n\n',
  'data: {"b":"é"}\n\n',
  'data: {"loud":1}\n\n',
  'data: [DONE]\n\n',
  'data:{"a":1}\n\n',
  'data: {"a":\ndata: 1}\n\n',
  'event: x\ndata: {}\n\n',
  'data: {"a"\n',
  ': comment\n\n',
  '\n',
)

describe('a stream of server-sent events', () => {
  it('is the same if several events without a significant member are read together', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), places, (list, anywhere) => {
        const bytes = Buffer.from(list.join(''))
        const pieces = split(
          bytes,
          anywhere.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
        )
        const taken: string[] = []
        const runs: RunReader = {
          quiet: (text) => (text.includes('loud') ? text.indexOf('loud') : text.length),
          pass: (frames, count) => {
            expect(frames).to.not.include('loud')
            const events = read([Buffer.from(frames, 'latin1')])
            expect(events.length).to.equal(count)
            taken.push(...events.map(({ frame }) => frame))
          },
        }
        const reader = new SseReader((_, frame) => taken.push(utf8(frame)), { runs })
        for (const piece of pieces) reader.push(piece)
        expect(taken).to.deep.equal(read([bytes]).map(({ frame }) => frame))
      }),
    )
  })

  it('is read as by another parser, in pieces of any size', () => {
    fc.assert(
      fc.property(stream, places, (text, anywhere) => {
        const bytes = Buffer.from(text)
        const list = anywhere.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b)
        const events = read(split(bytes, list))
        expect(events.map(({ data, type }) => ({ data, type }))).to.deep.equal(oracle(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('has a frame with the same data on one line for each event', () => {
    fc.assert(
      fc.property(stream, (text) => {
        for (const { data, frame } of read([Buffer.from(text)])) {
          expect(oracle(frame)).to.deep.equal([{ data: data.replaceAll('\n', ' '), type: '' }])
          expect(frame).to.match(/^data: [^\n\r]*\n\n$/)
        }
      }),
    )
  })

  it('keeps its bytes, valid UTF-8 or not', () => {
    const bytes = Buffer.from([...Buffer.from('data: '), 0xff, 0xc3, 0x28, ...Buffer.from('\n\n')])
    const frames: Buffer[] = []
    const reader = new SseReader((_, frame) => frames.push(Buffer.from(frame, 'latin1')))
    for (const piece of split(bytes, [7, 8])) reader.push(piece)
    expect(Buffer.concat(frames)).to.deep.equal(bytes)
  })

  it('may have events of up to 8 MB, on one line or many', () => {
    const line = `data: ${'x'.repeat(1018)}\n`
    const texts = {
      'on one line': `data: ${'x'.repeat(MAX_EVENT - 2048)}`,
      'on many lines': line.repeat(Math.floor(MAX_EVENT / 1018) - 1),
    }
    for (const [name, text] of Object.entries(texts)) {
      const pieces = split(
        Buffer.from(text),
        Array.from({ length: 127 }, (_, index) => (index + 1) * 65_536),
      )
      expect(read([...pieces, Buffer.from('\n\n')]), name).to.have.length(1)
      expect(() => read([...pieces, Buffer.alloc(4096, 'x')]), name).to.throw(EventTooLongError)
    }
  })

  it('with an endless line is read once, not repeatedly', () => {
    const reader = new SseReader(() => undefined)
    const byte = Buffer.from('x')
    for (let count = 0; count < 1 << 20; count++) reader.push(byte)
    expect(() => reader.push(Buffer.alloc(MAX_EVENT, 'x'))).to.throw(EventTooLongError)
  })
})
