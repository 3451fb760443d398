import { expect } from 'chai'
import { FIN, RST, type Step, sse } from '../../../core/testing/kit.ts'
import { caught } from './caught.ts'
import { ask, type Dialect, type Said, splitAfter } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'

const TEXT: Said = { text: ['Hel', 'lo!'] }

/** How a stream can end badly once it has begun, and the code under which clients hear of it. */
const ENDINGS: readonly (readonly [
  what: string,
  ending: (dialect: Dialect) => readonly Step[],
  code: (dialect: Dialect) => string,
])[] = [
  ['resets the connection', () => [RST], () => 'upstream_disconnected'],
  ['closes the connection', () => [FIN], () => 'upstream_disconnected'],
  ['ends without a finish', () => [], () => 'upstream_disconnected'],
  ['sends what is not JSON', () => ['data: {"id":\n\n'], () => 'upstream_invalid_response'],
  [
    'says that it cannot go on',
    (dialect) => [dialect.errorEvent('Private words.'), ...dialect.events(TEXT)],
    (dialect) => (dialect === openai ? 'upstream_error' : 'upstream_overloaded'),
  ],
]

describe('A broken stream in the SDK', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  for (const dialect of DIALECTS) {
    const [begin] = splitAfter(dialect.events(TEXT), 'Hel')

    for (const [what, ending, code] of ENDINGS) {
      describe(`because its upstream ${what} (${dialect.name})`, () => {
        beforeEach(() => fixture.upstream(dialect).on(() => sse([...begin, ...ending(dialect)])))

        it('yields the received chunks, then throws', async () => {
          let text = ''
          async function read(): Promise<void> {
            const stream = await fixture.gateway.openai().chat.completions.create({ ...ask(dialect), stream: true })
            for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
          }
          const error = await caught(read())
          expect(text).to.equal('Hel')
          expect(error).to.include({ status: undefined, code: code(dialect), type: 'server_error' })
          expect(error.requestID).to.match(/^req_[0-9a-f]{32}$/)
        })

        it('makes the SDK’s accumulator throw', async () => {
          const stream = fixture.gateway.openai().chat.completions.stream(ask(dialect))
          expect(await caught(stream.finalChatCompletion())).to.include({ code: code(dialect) })
        })

        it('ends with one error event and no end marker', async () => {
          const reply = await fixture.post(ask(dialect, { stream: true }))
          const text = await reply.text()
          const [, last] = /\n\ndata: (\{"error":.*\})\n\n$/.exec(text)!
          expect(JSON.parse(last!).error).to.have.all.keys('message', 'type', 'param', 'code')
          expect(text.match(/"error":/g)).to.have.length(1)
          expect(text).to.not.match(/\[DONE\]|"finish_reason":"|Private words/)
          expect(reply.complete).to.equal(false)
        })
      })
    }
  }
})
