import { expect } from 'chai'
import { json } from '../../../core/testing/kit.ts'
import { COMPLETION, type Fixture, startFixture } from './fixture.ts'

/** More bytes than the buffers of the sockets hold, and fewer than a whole reply may have. */
const LARGE = 'x'.repeat(15 << 20)

describe('A whole reply that its client does not read', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({ times: { writeStall: 50 } })
    fixture.upstream.on(() => json({ ...COMPLETION, padding: LARGE }))
  })

  after(() => fixture?.stop())

  it('is dropped after a time-out, and counts as client_closed', async () => {
    const connection = await fixture.connect()
    connection.socket.pause()
    connection.write(fixture.call({ lines: ['X-Client-Request-Id: unread'] }))
    const line = await fixture.gateway.logged(({ clientRequestId }) => clientRequestId === 'unread')
    expect(line).to.include({ level: 'info', status: 499, outcome: 'client_closed' })
    expect(await fixture.gateway.metric('umg_requests_in_flight')).to.equal(0)
    connection.socket.destroy()
  })
})
