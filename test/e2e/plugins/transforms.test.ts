import { expect } from 'chai'
import { json, reply as respond, sse } from '../../../core/testing/kit.ts'
import type { RawReply } from '../../support/raw-http.ts'
import { ask, type Dialect } from '../sdk/dialect.ts'
import { DIALECTS, type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { strangers } from './stranger-files.ts'

const SAID = { text: ['Hel', 'lo'] }

/** What is no chunk, and no completion either. */
const NEITHER = [
  'a promise',
  'a promise that rejects',
  'a number',
  'a text',
  'null',
  'an array of numbers',
  'an empty object',
  'choices that are no list',
  'choices that are no objects',
  'what JSON cannot say',
]

describe('a link that transforms replies', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture({ chain: [{ plugin: './transformer.ts' }], files: strangers('transformer.ts') })
    for (const dialect of DIALECTS)
      fixture.upstream(dialect).on((request) => {
        const { stream } = request.json() as { readonly stream?: boolean }
        return stream ? sse(dialect.events(SAID)) : json(dialect.whole(SAID))
      })
  })
  after(() => fixture?.stop())

  const call = (dialect: Dialect, result: string, stream: boolean) =>
    fixture.post(ask(dialect, { stream }), { 'x-result': result })

  async function expectFaultOfLink({ headers }: RawReply): Promise<void> {
    const line = await fixture.gateway.logged(({ id }) => id === headers['x-request-id'])
    expect(line).to.include({ outcome: 'gateway_error', error: 'plugin_error' })
    expect(line.cause).to.match(/^transformer: /)
    expect(line.attempts).to.have.length(1)
  }

  for (const dialect of DIALECTS) {
    for (const stream of [false, true]) {
      const kind = `${stream ? 'a stream' : 'a whole reply'} that is ${dialect.name}`

      for (const result of stream ? NEITHER : [...NEITHER, 'nothing']) {
        it(`costs its own call where it makes ${result} of ${kind}`, async () => {
          const reply = await call(dialect, result, stream)
          const text = await reply.text()
          expect(reply.status, text).to.equal(500)
          expect(JSON.parse(text).error).to.include({ code: 'plugin_error' })
          await expectFaultOfLink(reply)
          expect((await call(dialect, '', stream)).status).to.equal(200)
        })
      }
    }

    it(`ends a stream that is ${dialect.name} by an error frame where it makes a number of a later chunk`, async () => {
      const reply = await call(dialect, 'a number for the third chunk', true)
      expect(reply.status).to.equal(200)
      expect(await reply.text())
        .to.match(/data: \{"error":\{.*"code":"plugin_error"\}\}\n\n$/)
        .and.not.contain('[DONE]')
      expect(reply.complete).to.equal(false)
      await expectFaultOfLink(reply)
    })

    for (const [result, said] of [
      ['nothing', null],
      ['nothing for the first chunk', 'Hello'],
      ['nothing but text', 'Hello'],
      ['each chunk in an array', 'Hello'],
      ['its text at the end', 'Hello'],
      ['its text letter by letter', 'Hello'],
    ] as const) {
      it(`leaves a stream that is ${dialect.name} whole for SDKs where it gives back ${result}`, async () => {
        const stream = fixture.gateway
          .openai()
          .chat.completions.stream(ask(dialect), { headers: { 'x-result': result }, maxRetries: 0 })
        const { choices } = await stream.finalChatCompletion()
        expect(choices).to.have.length(1)
        expect(choices[0]).to.deep.include({ finish_reason: 'stop' })
        expect(choices[0]!.message).to.include({ role: 'assistant', content: said })
      })
    }
  }

  for (const dialect of DIALECTS) {
    it(`can hold back what is cut over two chunks of a stream that is ${dialect.name}`, async () => {
      const text = await (await call(dialect, 'its text at the end', true)).text()
      expect(text).to.contain('"content":"Hello"').and.not.contain('"content":"Hel"')
    })
  }

  it('is given chunks with choices, whatever the upstream leaves out', async () => {
    const [first, ...others] = openai.events(SAID)
    fixture.upstream(openai).reply(respond([first!, 'data: {"note":"mine"}\n\n', ...others], { headers: EVENTS }))
    const reply = await call(openai, 'nothing but text', true)
    expect(reply.status).to.equal(200)
    expect(await reply.text()).to.match(/"Hel".*"lo".*\[DONE\]\n\n$/s)
  })
})

const EVENTS = { 'content-type': 'text/event-stream' }
