import { expect } from 'chai'
import fc from 'fast-check'
import type { ClientWire, ReplyWriter } from '../../../core/protocol/client-protocol.ts'
import { openaiTranslator } from '../../../core/sdk/api.ts'
import { TranslatedReader } from '../../../core/upstream/readers/translated.ts'
import { type MakeReader, play, split } from '../upstream/play.ts'
import { eventsOf, type Reply, reply } from './any-reply.ts'

/** The streams of a protocol that clients speak. */
export interface WriterUnderTest<Read> {
  readonly wire: ClientWire
  readonly make: () => ReplyWriter
  /** Throws an `AssertionError` for a stream that breaks the rules of the protocol. */
  readonly read: (text: string) => Read
  readonly expectSaid: (read: Read, said: Reply) => void
  readonly expectCut: (read: Read) => void
  /** A stream without ids that are drawn by lot, and times. */
  readonly withoutChance?: (text: string) => string
}

/** Whether random streams of an upstream that speaks OpenAI's chat completions keep to the rules of a client's protocol. */
export function describeWriter<Read>({ withoutChance = (text) => text, ...writer }: WriterUnderTest<Read>): void {
  const { wire, make, read, expectSaid, expectCut } = writer
  const reading: MakeReader = (relay) => {
    relay.attach({ pause: () => undefined, resume: () => undefined }, 'utf8')
    return new TranslatedReader({
      translator: openaiTranslator(),
      call: { model: 'open/m', includeUsage: true, choices: 1, size: 28 },
      stream: relay,
      transforms: [],
      hold: false,
      writer: make(),
    })
  }

  it('is legal and complete, whatever the order of its parts', () => {
    fc.assert(
      fc.property(reply, (said) => {
        const { text: sent, ending } = play(reading, [Buffer.from(eventsOf(said).join(''))], wire)
        expect(ending).to.equal('ended')
        expectSaid(read(sent), said)
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
        const { text: sent, ending, failure } = play(reading, [whole.subarray(0, place % end)], wire)
        expect(failure).to.include({ row: 'upstream_disconnected' })
        if (sent === '') return
        expect(ending).to.equal('broken')
        expectCut(read(sent))
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
    const heard = (places: readonly number[]) => withoutChance(play(reading, split(bytes, places), wire).text)
    const whole = heard([])
    for (const place of bytes.keys()) expect(heard([place])).to.equal(whole)
  })
}
