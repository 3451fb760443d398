import { expect } from 'chai'
import { type Fixture, GOOD_BODY, startFixture } from '../client-faults/fixture.ts'

/** The time limit of a link, in milliseconds. */
const LIMIT_MS = 100

const HANG = `import { defineChain, Type } from 'unified-model-gateway/plugin'
export default defineChain({
  apiVersion: 1, name: 'hang', schema: Type.Object({}),
  create: () => ({ handle: (ctx, next) => (ctx.get('x-hang') === '' ? next() : new Promise(() => undefined)) }),
})`

describe('A body that arrives slowly', () => {
  let fixture: Fixture

  before(async () => {
    const limits = { plugin: 'rate-tagging', config: { classes: { all: { tokens: '1M/min' } }, default: 'all' } }
    fixture = await startFixture({
      chain: [{ plugin: 'auth' }, { plugin: './hang.ts' }, limits],
      files: { 'hang.ts': HANG },
      times: { link: LIMIT_MS },
    })
    // The first look-up of the key and of its limits starts threads, which may take longer than a link may.
    for (let status = 0; status !== 200; ) {
      const first = await fixture.connect()
      first.write(fixture.call())
      status = (await first.reply()).status
      first.socket.destroy()
    }
  })

  after(() => fixture?.stop())

  it('is no fault of the link that reads it', async () => {
    const slow = await fixture.connect()
    slow.write(fixture.call({ body: GOOD_BODY.slice(0, -1), lines: [`Content-Length: ${GOOD_BODY.length}`] }))
    // A link that hangs fails when the limit is over, which began later.
    const hanging = await fixture.connect()
    hanging.write(fixture.call({ lines: ['X-Hang: 1'] }))
    expect((await hanging.reply()).status).to.equal(500)
    slow.write(GOOD_BODY.slice(-1))
    expect(await slow.reply()).to.include({ status: 200 })
    for (const { socket } of [slow, hanging]) socket.destroy()
  })
})
