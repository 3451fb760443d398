import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { ChunkWriter, TranslatedReader } from '../../../core/upstream/readers/translated.ts'
import { documentedEvents } from '../../fixtures/documented.ts'
import { edgesOf, eventsIn } from '../../fixtures/openai-streams.ts'
import { anthropic } from '../../plugins/providers/anthropic/support.ts'
import { fakeCallAndAttempt } from '../../support/fake-call.ts'
import { type Heard, type MakeReader, play, split } from './play.ts'

const FIXTURES = new URL('../../plugins/providers/anthropic/fixtures/', import.meta.url)
const DOCUMENTED = ['anthropic-text', 'anthropic-json-tool', 'anthropic-mcp', 'anthropic-fallback']
/** Those that do not end well by themselves. */
const BROKEN = ['error.sse', 'truncated.sse']

const provider = await anthropic()

const reading: MakeReader = (relay) => {
  relay.attach({ pause: () => undefined, resume: () => undefined }, 'utf8')
  const call = { model: 'claude/some-model', includeUsage: true, choices: 1, size: 40 }
  const translator = provider.translator!(...fakeCallAndAttempt())!
  return new TranslatedReader({
    translator,
    call,
    stream: relay,
    transforms: [],
    hold: false,
    writer: new ChunkWriter(),
  })
}

/** What the client has; the time of a call differs from call to call. */
function heard(pieces: readonly Buffer[]): Heard {
  const { text, ...rest } = play(reading, pieces)
  return { text: text.replaceAll(/"created":\d+/g, '"created":0'), ...rest }
}

function expectEndOf(bytes: Buffer, at: number, whole: string): void {
  const { text, ending, failure } = heard([bytes.subarray(0, at)])
  const isOver = eventsIn(bytes.subarray(0, at)).some((data) => data.includes('"message_stop"'))
  if (isOver) {
    expect({ text, ending }).to.deep.equal({ text: whole, ending: 'ended' })
    return
  }
  expect(failure, `cut at ${at}`).to.include({ code: 'upstream_disconnected' })
  const frame = text === '' ? '' : `data: ${JSON.stringify(failure)}\n\n`
  const content = text.slice(0, text.length - frame.length)
  expect(text).to.equal(content + frame)
  expect(whole.startsWith(content), `what came before the cut at ${at}`).to.equal(true)
  expect(ending).to.equal(text === '' ? 'open' : 'broken')
}

/** Where streams are divided and cut: short ones anywhere, those with all that vendors send at the edges of their events. */
const anywhere = (bytes: Buffer): Iterable<number> => bytes.keys()

function describeStream(name: string, places: typeof anywhere, bytes: Buffer): void {
  describe(name, () => {
    it('ends without an error', () => {
      const { text, ending } = heard([bytes])
      expect(ending).to.equal('ended')
      expect(text).to.match(
        /"finish_reason":"\w+"\}\],"usage":null\}\n\ndata: \{[^\n]*"choices":\[\],"usage":\{[^\n]*\n\ndata: \[DONE\]\n\n$/,
      )
    })

    it('is the same in pieces of any size', () => {
      const whole = heard([bytes])
      for (const at of places(bytes)) expect(heard(split(bytes, [at])), `split at ${at}`).to.deep.equal(whole)
      expect(heard(split(bytes, Array.from(bytes.keys()))), 'byte by byte').to.deep.equal(whole)
    })

    it('is never complete if it is cut', () => {
      const { text } = heard([bytes])
      for (const at of places(bytes)) expectEndOf(bytes, at, text)
    })
  })
}

describe('a translated stream', () => {
  for (const file of readdirSync(FIXTURES).filter((name) => !BROKEN.includes(name))) {
    describeStream(file, anywhere, readFileSync(new URL(file, FIXTURES)))
  }

  for (const name of DOCUMENTED) {
    const events = documentedEvents(name).map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`)
    describeStream(name, edgesOf, Buffer.from(events.join('')))
  }

  for (const [file, code] of [
    ['error.sse', 'upstream_overloaded'],
    ['truncated.sse', 'upstream_disconnected'],
  ] as const) {
    it(`${file} fails with the same error in pieces of any size`, () => {
      const bytes = readFileSync(new URL(file, FIXTURES))
      const whole = heard([bytes])
      expect(whole.failure).to.include({ code })
      for (const at of bytes.keys()) {
        const { text, ending, failure } = heard(split(bytes, [at]))
        expect({ text, ending, code: failure?.code }).to.deep.equal({ text: whole.text, ending: 'broken', code })
      }
    })
  }
})
