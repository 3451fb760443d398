import { expect } from 'chai'
import fc from 'fast-check'
import { chatReply } from '../../../core/protocol/chat-completions.ts'
import { VerbatimReader } from '../../../core/upstream/readers/verbatim.ts'
import { documentedChunks } from '../../fixtures/documented.ts'
import { edgesOf, eventsIn, isFinished, OPENAI_STREAMS, type OpenaiStream, passedOn } from '../../fixtures/openai-streams.ts'
import { type Heard, type MakeReader, play, split } from './play.ts'

/** Streams of vendors, in all their length. */
const DOCUMENTED = ['openai-text', 'alibaba-tool-call', 'deepseek-tool-call', 'mistral-tool-call']

/** Bytes of a stream that is divided and cut at every one of them. */
const SMALL = 4096
const placesOf = (bytes: Buffer): number[] => (bytes.length < SMALL ? Array.from(bytes.keys()) : edgesOf(bytes))

const reading =
  ({ choices }: OpenaiStream, includeUsage = false): MakeReader =>
  (relay) => {
    relay.attach({ pause: () => undefined, resume: () => undefined }, 'latin1')
    const call = { choices, includeUsage }
    return new VerbatimReader({ format: chatReply, call, stream: relay, transforms: [], hold: false })
  }

function expectEndOf({ bytes, choices }: OpenaiStream, at: number, heard: Heard): void {
  const events = eventsIn(bytes.subarray(0, at))
  const content = passedOn(events)
  if (isFinished(events, choices)) {
    expect(heard, `cut at ${at}`).to.deep.equal({ text: `${content}data: [DONE]\n\n`, ending: 'ended' })
    return
  }
  const frame = content === '' ? '' : `data: ${JSON.stringify(heard.failure)}\n\n`
  expect(heard.failure, `cut at ${at}`).to.include({ code: 'upstream_disconnected' })
  expect(heard).to.include({ text: content + frame, ending: content === '' ? 'open' : 'broken' })
}

function describeStream(stream: OpenaiStream): void {
  describe(stream.name, () => {
    it('reaches the client event by event, byte for byte', () => {
      for (const includeUsage of [false, true]) {
        const heard = play(reading(stream, includeUsage), [stream.bytes])
        const text = `${passedOn(eventsIn(stream.bytes), includeUsage)}data: [DONE]\n\n`
        expect(heard).to.deep.equal({ text, ending: 'ended' })
      }
    })

    it('is the same in pieces of any size', () => {
      const { bytes } = stream
      const whole = play(reading(stream), [bytes])
      for (const at of placesOf(bytes)) expect(play(reading(stream), split(bytes, [at])), `split at ${at}`).to.deep.equal(whole)
      expect(play(reading(stream), split(bytes, Array.from(bytes.keys()))), 'byte by byte').to.deep.equal(whole)
      const places = fc.array(fc.nat(bytes.length), { maxLength: 20 }).map((list) => list.sort((a, b) => a - b))
      fc.assert(
        fc.property(places, (list) => {
          expect(play(reading(stream), split(bytes, list))).to.deep.equal(whole)
        }),
        { numRuns: 50 },
      )
    })

    it('is never complete if it is cut', () => {
      const { bytes } = stream
      for (const at of placesOf(bytes)) expectEndOf(stream, at, play(reading(stream), [bytes.subarray(0, at)]))
    })
  })
}

describe('a passed-through stream', () => {
  for (const stream of OPENAI_STREAMS) describeStream(stream)

  for (const name of DOCUMENTED) {
    const text = documentedChunks(name).map((data) => `data: ${data}\n\n`)
    describeStream({ name, bytes: Buffer.from(text.join('')), choices: 1 })
  }
})
