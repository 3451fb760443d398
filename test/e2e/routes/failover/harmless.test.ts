import { expect } from 'chai'
import { DONE, pieces, type Step, sse } from '../../../../core/testing/kit.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { type Asked, post } from '../../upstream-faults/assertions.ts'
import { AROUND, plain, SAID, textOf, WITHIN } from '../../upstream-faults/faults/harmless.ts'
import { EVERY_WAY, hitsSince } from './assertions.ts'
import { curated, type FailoverFixture, startFailover } from './fixture.ts'

describe('A call stays with the first of two targets that', () => {
  let fixture: FailoverFixture
  before(async () => {
    fixture = await startFailover()
  })
  after(() => fixture?.stop())

  /** What the client gets, but for the time of a call, and for blanks between JSON's members. */
  async function heard({ dialect, stream }: Asked, script: readonly Step[]): Promise<string> {
    fixture.first.on(() => script)
    const reply = await post(fixture, { dialect, stream, namespace: curated(dialect) })
    const text = await reply.text()
    expect([reply.status, reply.complete, reply.headers['x-umg-attempts']]).to.deep.equal([200, true, '1'])
    return text.replaceAll(/"created":\d+/g, '"created":0').replaceAll(', "', ',"')
  }

  async function expectStays(way: Asked, script: readonly Step[]): Promise<void> {
    const asked = hitsSince(fixture.second)
    expect(await heard(way, script)).to.equal(await heard(way, plain(way)))
    expect(asked()).to.deep.equal([0])
  }

  for (const way of EVERY_WAY) {
    for (const [name, script] of Object.entries(AROUND)) it(`${name}: ${way.name}`, () => expectStays(way, script(way)))
    if (!way.stream) continue

    for (const [name, variant] of Object.entries(WITHIN)) {
      it(`${name}: ${way.name}`, () => expectStays(way, pieces(sse([variant(textOf(way))]), 50)))
    }
  }

  it('leaves out the end marker after its finish', () =>
    expectStays({ dialect: openai, stream: true }, sse(openai.events(SAID).filter((event) => event !== DONE))))
})
