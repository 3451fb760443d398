import { expect } from 'chai'
import type { RawConnection } from '../../support/raw-connection.ts'
import { expectError, type Fixture, type Refusal } from './fixture.ts'

/** Bytes of a faulty client, and the expected refusal. */
export interface Fault extends Refusal {
  /** Completes "refuses …". */
  readonly name: string
  readonly bytes: (fixture: Fixture) => string | Buffer
  /** Whether the connection is closed after the refusal; otherwise it serves further requests. */
  readonly closes: boolean
  /** The call's status and outcome in log and metrics. Default: its status, `client_error`. */
  readonly counted?: { readonly status: number; readonly outcome: string }
}

/**
 * Sends a fault on a new connection. Expects one error in OpenAI's shape, no upstream request, one log line, one count in the
 * metrics, and the connection closed or open. Resolves to the error's message.
 */
export async function expectRefusal(fixture: Fixture, fault: Fault): Promise<string> {
  const { gateway, upstream } = fixture
  const { status, outcome } = fault.counted ?? { status: fault.status, outcome: 'client_error' }
  const series = { code: String(status), outcome }
  const countBefore = await gateway.metric('umg_requests_total', series)
  const requestsBefore = upstream.requests.length

  const connection = await fixture.connect()
  connection.write(fault.bytes(fixture))
  const reply = await connection.reply()
  const message = expectError(reply, fault)
  await (fault.closes ? expectClosed(connection) : expectServing(connection))

  const line = await gateway.logged(({ id }) => id === reply.headers['x-request-id'])
  expect(line).to.include({ status, outcome })
  expect(await gateway.metric('umg_requests_total', series)).to.equal(countBefore + 1)
  expect(upstream.requests.length, 'requests that reached the upstream').to.equal(requestsBefore)
  return message
}

async function expectClosed(connection: RawConnection): Promise<void> {
  await connection.closed
  expect(connection.rest, 'after the reply').to.equal('')
}

async function expectServing(connection: RawConnection): Promise<void> {
  connection.write('GET /livez HTTP/1.1\r\nHost: gateway\r\n\r\n')
  expect(await connection.reply()).to.include({ status: 200, body: 'ok\n' })
  expect(connection.rest).to.equal('')
  connection.socket.destroy()
}
