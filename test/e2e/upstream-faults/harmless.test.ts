import { expect } from 'chai'
import { DONE, hold, pieces, type Step, sse } from '../../../core/testing/kit.ts'
import { DIALECTS, type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { type Asked, CANARY, EVERY_WAY, post } from './assertions.ts'
import { AROUND, plain, SAID, textOf, WITHIN } from './faults/harmless.ts'

/** The client's bytes for a script; the time of a call, and blanks between JSON's members, may differ. */
async function heard(fixture: Fixture, asked: Asked, script: readonly Step[]): Promise<string> {
  fixture.upstream(asked.dialect).on(() => script)
  const answer = await post(fixture, asked)
  const text = await answer.text()
  expect(answer.status).to.equal(200)
  expect(answer.complete).to.equal(true)
  expect(JSON.stringify(answer.headers) + text).not.to.contain(CANARY)
  return text.replaceAll(/"created":\d+/g, '"created":0').replaceAll(', "', ',"')
}

describe('A client gets the usual reply from an upstream that', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  for (const asked of EVERY_WAY) {
    for (const [name, script] of Object.entries(AROUND)) {
      it(`${name}: ${asked.name}`, async () => {
        expect(await heard(fixture, asked, script(asked))).to.equal(await heard(fixture, asked, plain(asked)))
      })
    }
  }

  for (const dialect of DIALECTS) {
    const asked = { dialect, stream: true }
    for (const [name, variant] of Object.entries(WITHIN)) {
      it(`${name}: ${dialect.name}`, async () => {
        const expected = await heard(fixture, asked, sse(dialect.events(SAID)))
        const odd = sse([variant(textOf(asked))])
        for (const size of [Number.POSITIVE_INFINITY, 50, 1]) {
          expect(await heard(fixture, asked, pieces(odd, size)), `in pieces of ${size}`).to.equal(expected)
        }
      })
    }

    it(`sends an event of a megabyte: ${dialect.name}`, async () => {
      const text = await heard(fixture, asked, sse(dialect.events({ text: ['x'.repeat(1 << 20)] })))
      expect(text)
        .to.contain('x'.repeat(1 << 20))
        .and.match(/data: \[DONE\]\n\n$/)
    })
  }

  it('sends more after its end marker, and stays connected', async () => {
    const late = (asked: Asked) => sse([...asked.dialect.events(SAID), ...asked.dialect.events({ text: [CANARY] }), hold()])
    const listening = DIALECTS.map(async (dialect) => {
      const asked = { dialect, stream: true }
      const text = await heard(fixture, asked, late(asked))
      const { closed } = fixture.upstream(dialect).requests.at(-1)!
      expect(text).to.equal(await heard(fixture, asked, plain(asked)))
      await closed
    })
    await Promise.all(listening)
  })

  it('leaves out the end marker after its finish', async () => {
    const asked = { dialect: openai, stream: true }
    const events = openai.events(SAID).filter((event) => event !== DONE)
    expect(await heard(fixture, asked, sse(events))).to.equal(await heard(fixture, asked, plain(asked)))
  })
})
