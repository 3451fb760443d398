import { expect } from 'chai'
import {
  type Bytes,
  FIN,
  hold,
  json,
  reply,
  type Script,
  type ScriptedUpstream,
  type Step,
  scriptedUpstream,
} from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { onGoogleCloud } from '../clients/fixture.ts'
import { namespacesAt, PIECES, requestOf, WAYS, type Way, type WriteUsage } from './usage-ways.ts'

/** A final usage that cannot be charged as it is. The prompt of those before is `START`. */
const IMPOSSIBLE: Readonly<Record<string, (write: WriteUsage) => object | null | undefined>> = {
  missing: () => undefined,
  null: () => null,
  negative: (write) => write(-5, -7),
  '1e300': (write) => write(1e300, 1e300),
  'of words': (write) => write('12', '2000'),
  fractions: (write) => write(0.5, 0.5),
  'beyond any model': (write) => write(1e12, 1e12),
  'of the prompt only': (write) => write(700, null),
  'too small for the text': (write) => write(700, 3),
}

const START = { prompt: 700, completion: 1 }
const FINAL = { prompt: 712, completion: 1990 }

/** Tokens of each of `PIECES`. */
const OF_PIECE = 400

const has = ({ textIn = (bytes) => Buffer.from(bytes).toString() }: Way, frame: Bytes, text: string): boolean =>
  textIn(frame).includes(text)

describe(`An upstream that reports its usage, by ${WAYS.length} ways of providers and protocols × ${Object.keys(IMPOSSIBLE).length + 1} usages × each event's end,`, () => {
  let upstream: ScriptedUpstream
  let metadata: ScriptedUpstream
  let gateway: TestGateway
  let leaveGoogleCloud: () => void

  before(async () => {
    upstream = await scriptedUpstream()
    metadata = await scriptedUpstream()
    leaveGoogleCloud = onGoogleCloud(metadata)
    gateway = await startTestGateway({
      env: { KEY: 'key-of-the-upstream' },
      routes: { chain: [{ plugin: 'auth' }], namespaces: namespacesAt(upstream.origin) },
    })
  })

  after(async () => {
    await gateway?.stop()
    leaveGoogleCloud?.()
    await upstream?.close()
    await metadata?.close()
  })

  interface Charged {
    readonly estimated: boolean
    readonly attempts: readonly unknown[]
    readonly tokens?: { readonly input: number; readonly output: number }
  }

  const streamed = ({ streamType = 'text/event-stream' }: Way, steps: readonly Step[]): Script =>
    reply(steps, { framing: 'chunked', headers: { 'content-type': streamType } })

  async function chargedFor(way: Way, stream: boolean, script: Script): Promise<Charged> {
    upstream.on(() => script)
    const answer = await gateway.fetch(way.path, { json: { ...requestOf(way), stream } })
    // A stream that breaks is an error for the client too.
    await answer.text().catch(() => '')
    return charged(answer)
  }

  const charged = async (answer: Response): Promise<Charged> =>
    (await gateway.logged(({ id }) => id === answer.headers.get('x-request-id'))) as unknown as Charged

  for (const way of WAYS) {
    const started = way.usage(START.prompt, START.completion)
    const final = way.usage(FINAL.prompt, FINAL.completion)
    const frames = way.stream(final, started)
    const scriptOf = (usage: object | null | undefined, stream: boolean): Script =>
      stream ? streamed(way, way.stream(usage, started)) : json(way.whole(usage))
    const written = (sent: readonly Bytes[]): number =>
      PIECES.filter((piece) => sent.some((frame) => has(way, frame, `"${piece}"`))).length * OF_PIECE

    /** What is charged for a stream that ended too early. */
    function expectCharge({ estimated, tokens }: Charged, sent: readonly Bytes[]): void {
      const title = `of ${sent.length} events`
      const isFinal = sent.some((frame) => has(way, frame, String(FINAL.completion)))
      const isStarted = way.hasStart && sent.length > 0
      if (tokens === undefined) expect([written(sent), isFinal, isStarted ?? false], title).to.deep.equal([0, false, false])
      else {
        expect(tokens.output, title).to.be.within(isFinal ? FINAL.completion : written(sent), 2100)
        if (isFinal) expect(tokens.input, title).to.equal(FINAL.prompt)
        else expect(estimated, title).to.equal(true)
        if (isStarted && !isFinal) expect(tokens.input, title).to.equal(START.prompt)
      }
    }

    describe(`${way.path} to ${way.model}`, () => {
      it('is charged by it, exactly', async () => {
        for (const stream of [true, false]) {
          const { estimated, tokens } = await chargedFor(way, stream, scriptOf(final, stream))
          expect({ stream, estimated }).to.deep.equal({ stream, estimated: false })
          expect(tokens).to.include({ input: FINAL.prompt, output: FINAL.completion })
        }
      })

      it('that is impossible is charged by estimate', async () => {
        for (const [name, usageOf] of Object.entries(IMPOSSIBLE)) {
          for (const stream of [true, false]) {
            const title = `${name}, stream ${stream}`
            const { estimated, tokens } = await chargedFor(way, stream, scriptOf(usageOf(way.usage), stream))
            expect(estimated, title).to.equal(true)
            expect(tokens?.output, title).to.be.within(2000, 3000)
            expect(tokens?.input, title).to.be.within(1, 1000)
          }
        }
      })

      it('and breaks its stream is charged what it reported and wrote until then', async () => {
        for (const [count] of frames.slice(0, -1).entries()) {
          const sent = frames.slice(0, count)
          expectCharge(await chargedFor(way, true, streamed(way, [...sent, FIN])), sent)
        }
      })

      it('and ends its stream with an error is charged what it reported and wrote until then', async () => {
        for (const end of [way.failure(), way.failure(final)]) {
          for (const [count] of frames.slice(0, -1).entries()) {
            const sent = [...frames.slice(0, count), end]
            const isSecond = count > 0 || has(way, end, String(FINAL.completion))
            if (isSecond) expectCharge(await chargedFor(way, true, streamed(way, sent)), sent)
          }
        }
      })

      if (way.wholeFailure !== undefined)
        it('and answers with an error is charged what it reported', async () => {
          const { estimated, tokens } = await chargedFor(way, false, json(way.wholeFailure!(final)))
          expect(estimated).to.equal(false)
          expect(tokens).to.include({ input: FINAL.prompt, output: FINAL.completion })
        })

      const { refusal = way.wholeFailure } = way
      if (refusal !== undefined) {
        it('and refuses a call is charged what it reported', async () => {
          for (const stream of [true, false]) {
            for (const status of [400, 500]) {
              const title = `${status}, stream ${stream}`
              const { estimated, tokens, attempts } = await chargedFor(way, stream, json(refusal(final), { status }))
              expect(estimated, title).to.equal(false)
              // Of a failure there is a second attempt, which is billed too.
              const { length } = attempts
              expect(tokens, title).to.include({ input: FINAL.prompt * length, output: FINAL.completion * length })
            }
          }
        })

        it('and refuses a call with a usage that is impossible is charged no more than an estimate', async () => {
          for (const [name, usageOf] of Object.entries(IMPOSSIBLE)) {
            const usage = usageOf(way.usage)
            const { tokens = { input: 0, output: 0 } } = await chargedFor(way, false, json(refusal(usage!), { status: 400 }))
            expect(tokens.input, name).to.be.within(0, 1000)
            expect(tokens.output, name).to.be.within(0, 3)
          }
        })
      }

      it('and is left by its client is charged what it reported and wrote until then', async () => {
        const sent = frames.slice(0, frames.findIndex((frame) => has(way, frame, PIECES.at(-1)!)) + 1)
        upstream.on(() => streamed(way, [...sent, hold()]))
        const leaving = new AbortController()
        const answer = await gateway.fetch(way.path, { json: { ...requestOf(way), stream: true }, signal: leaving.signal })
        let text = ''
        const decoder = new TextDecoder()
        try {
          for await (const bytes of answer.body!) {
            text += decoder.decode(bytes, { stream: true })
            if (text.includes('wor4')) leaving.abort()
          }
        } catch {}
        expectCharge(await charged(answer), sent)
      })
    })
  }
})
