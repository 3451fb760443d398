import { expect } from 'chai'
import fc from 'fast-check'
import { chatReply } from '../../../core/protocol/chat-completions.ts'
import { VerbatimReader } from '../../../core/upstream/readers/verbatim.ts'
import { documentedChunks } from '../../fixtures/documented.ts'
import {
  edgesOf,
  eventsIn,
  isFinished,
  isUsageIn,
  OPENAI_STREAMS,
  type OpenaiStream,
  passedOn,
} from '../../fixtures/openai-streams.ts'
import { type Heard, type MakeReader, play, split } from './play.ts'

/** Streams of vendors, in all their length. */
const DOCUMENTED = ['openai-text', 'alibaba-tool-call', 'deepseek-tool-call', 'mistral-tool-call']

/** Bytes of a stream that is divided and cut at every one of them. */
const SMALL = 4096
const placesOf = (bytes: Buffer): number[] => (bytes.length < SMALL ? Array.from(bytes.keys()) : edgesOf(bytes))

/** Of the request, in bytes. */
const SIZE = 40

const reading =
  ({ choices }: OpenaiStream, includeUsage = false): MakeReader =>
  (relay) => {
    relay.attach({ pause: () => undefined, resume: () => undefined }, 'latin1')
    const call = { choices, includeUsage, size: SIZE }
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

/** The event of an estimated usage: a token for each event, and for four bytes of the request. */
function estimateAfter(events: readonly string[]): string {
  const { id, object, created, model } = JSON.parse(events.find((data) => data.startsWith('{'))!)
  const passed = passedOn(events, true).split('\n\n').length - 1
  const usage = { prompt_tokens: SIZE / 4, completion_tokens: passed, total_tokens: SIZE / 4 + passed }
  return `data: ${JSON.stringify({ id, object, created, model, choices: [], usage })}\n\n`
}

function describeStream(stream: OpenaiStream): void {
  describe(stream.name, () => {
    it('reaches the client event by event, byte for byte', () => {
      const heard = play(reading(stream), [stream.bytes])
      expect(heard).to.deep.equal({ text: `${passedOn(eventsIn(stream.bytes))}data: [DONE]\n\n`, ending: 'ended' })
    })

    it('has a usage for a client that asked for it: the one that the upstream reports, or else an estimate after all that it said', () => {
      const events = eventsIn(stream.bytes)
      const heard = play(reading(stream, true), [stream.bytes])
      const told = `${passedOn(events, true)}${isUsageIn(events) ? '' : estimateAfter(events)}`
      expect(heard).to.deep.equal({ text: `${told}data: [DONE]\n\n`, ending: 'ended' })
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
