import { expect } from 'chai'
import type { RawConnection } from '../../support/raw-connection.ts'
import { type Fixture, GOOD_BODY, startFixture } from '../client-faults/fixture.ts'

const CALLS = 25
const PLACES = 2
/** Bytes. */
const LENGTH = 30 << 20
const SENT = 1 << 20

describe('Incomplete bodies of a key with few places', () => {
  let fixture: Fixture
  let connections: RawConnection[]

  before(async () => {
    const classes = { few: { requests: '5/min', tokens: '100M/min', concurrent: PLACES } }
    fixture = await startFixture({
      chain: [{ plugin: 'auth' }, { plugin: 'rate-tagging', config: { classes, default: 'few', tags: { model: '{model}' } } }],
    })
    connections = await Promise.all(Array.from({ length: CALLS }, () => fixture.connect()))
  })

  after(async () => {
    for (const { socket } of connections ?? []) socket.destroy()
    await fixture?.stop()
  })

  it('are read for as many calls as there are places, and the other calls are refused before', async () => {
    const started = connections.map(async (connection) => {
      const body = GOOD_BODY.replace('Hi', 'x'.repeat(SENT))
      connection.write(fixture.call({ body, lines: [`Content-Length: ${LENGTH}`] }))
      return connection.reply()
    })
    const refused = new Set<number>()
    await new Promise<void>((resolve) => {
      for (const [index, reply] of started.entries()) {
        reply.then(
          ({ status }) => {
            expect(status).to.equal(429)
            if (refused.add(index).size === CALLS - PLACES) resolve()
          },
          () => undefined,
        )
      }
    })
    for (const [index, { socket }] of connections.entries()) if (!refused.has(index)) socket.destroy()
    await fixture.gateway.logged(({ outcome }) => outcome === 'client_closed')
  })
})
