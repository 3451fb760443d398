import { expect } from 'chai'
import { hold, sse } from '../../../core/testing/kit.ts'
import type { RawConnection } from '../../support/raw-connection.ts'
import { CHUNKS, type Fixture, GOOD_BODY, startFixture } from './fixture.ts'

const STREAM_BODY = GOOD_BODY.replace('{', '{"stream":true,')

/** Ways of going; half a close counts as one too, since what waits for the reply may be gone all the same. */
const WAYS: Readonly<Record<string, (connection: RawConnection) => void>> = {
  'closes the connection': ({ socket }) => socket.destroy(),
  'resets the connection': ({ socket }) => socket.resetAndDestroy(),
  'closes its half of the connection': ({ socket }) => socket.end(),
}

describe('A client that', () => {
  let fixture: Fixture
  let number = 0

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  /** Resolves when the call has been settled, and checks that it was the client's doing and that nothing of it is left. */
  async function expectLeft(id: string): Promise<void> {
    const line = await fixture.gateway.logged(({ clientRequestId }) => clientRequestId === id)
    expect(line).to.include({ level: 'info', status: 499, outcome: 'client_closed' })
    expect(await fixture.gateway.metric('umg_requests_in_flight')).to.equal(0)
  }

  for (const [way, leave] of Object.entries(WAYS)) {
    it(`${way} while it sends its body counts as client_closed and calls no upstream`, async () => {
      const id = `body-${++number}`
      const before = fixture.upstream.requests.length
      const connection = await fixture.connect()
      const call = fixture.call({ lines: [`X-Client-Request-Id: ${id}`, 'Expect: 100-continue'] })
      const body = call.indexOf('{')
      connection.write(call.subarray(0, body))
      expect(await connection.reply()).to.include({ status: 100 })
      connection.write(call.subarray(body, -5))
      leave(connection)
      await expectLeft(id)
      expect(fixture.upstream.requests).to.have.length(before)
    })

    it(`${way} while it waits closes the upstream request`, async () => {
      const id = `wait-${++number}`
      const received = fixture.upstream.reply([hold()])
      const connection = await fixture.connect()
      connection.write(fixture.call({ lines: [`X-Client-Request-Id: ${id}`] }))
      const { closed } = await received
      leave(connection)
      await Promise.all([closed, expectLeft(id)])
    })

    it(`${way} during a stream closes the upstream request`, async () => {
      const id = `stream-${++number}`
      const received = fixture.upstream.reply(sse([...CHUNKS.slice(0, 2), hold()]))
      const connection = await fixture.connect()
      connection.write(fixture.call({ lines: [`X-Client-Request-Id: ${id}`], body: STREAM_BODY }))
      await connection.until('"Hi!"')
      leave(connection)
      await Promise.all([(await received).closed, expectLeft(id)])
    })
  }

  it('closes a connection with pipelined calls ends the one that is served, and the others never begin', async () => {
    const ids = [1, 2, 3].map((n) => `pipelined-${n}`)
    const before = fixture.upstream.requests.length
    const received = fixture.upstream.reply([hold()])
    const connection = await fixture.connect()
    for (const id of ids) connection.write(fixture.call({ lines: [`X-Client-Request-Id: ${id}`] }))
    const { closed } = await received
    connection.socket.destroy()
    await Promise.all([closed, expectLeft(ids[0]!)])
    expect(fixture.upstream.requests).to.have.length(before + 1)
    expect(fixture.gateway.log.some(({ clientRequestId }) => ids.slice(1).includes(String(clientRequestId)))).to.equal(false)
  })
})
