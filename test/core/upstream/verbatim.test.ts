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

/** The bytes of the texts that a model wrote: of all strings in deltas but the role, the ids and the names. */
function textIn(value: unknown, key = ''): number {
  if (typeof value === 'string') return ['role', 'id', 'type', 'name'].includes(key) ? 0 : Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((length, [name, member]) => length + textIn(member, name), 0)
}

/** The usage in an event, which estimates the answer by its text: a token for four bytes, and for four bytes of the request. */
function expectEstimate(event: string, events: readonly string[]): void {
  const { id, object, created, model } = JSON.parse(events.find((data) => data.startsWith('{'))!)
  const { usage, ...rest } = JSON.parse(event.slice('data: '.length))
  expect(rest).to.deep.equal({ id, object, created, model, choices: [] })
  const deltas = events.filter((data) => data.startsWith('{')).flatMap((data) => JSON.parse(data).choices ?? [])
  const least = Math.ceil(deltas.reduce((length, { delta }) => length + textIn(delta), 0) / 4)
  expect(usage.prompt_tokens).to.equal(SIZE / 4)
  // The head of a tool call, with its id and name, counts as text where the events around it have none.
  const heads = deltas.filter(({ delta }) => delta?.tool_calls?.some(({ id }: { id?: string }) => id !== undefined)).length
  expect(usage.completion_tokens).to.be.within(least, 2 * least + 10 * (1 + heads))
  expect(usage.total_tokens).to.equal(usage.prompt_tokens + usage.completion_tokens)
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
      const told = passedOn(events, true)
      expect(heard.ending).to.equal('ended')
      expect(heard.text.startsWith(told)).to.equal(true)
      const more = heard.text.slice(told.length)
      if (isUsageIn(events)) expect(more).to.equal('data: [DONE]\n\n')
      else {
        expect(more).to.match(/^data: [^\n]*\n\ndata: \[DONE\]\n\n$/)
        expectEstimate(more.split('\n\n')[0]!, events)
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
