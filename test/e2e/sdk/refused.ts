import { expect } from 'chai'
import type { WireError } from '../../support/raw-http.ts'
import { DIALECTS, type Fixture } from './fixture.ts'

/** Expects an invalid_request_error in OpenAI's shape and no upstream request. Resolves to the error. */
export async function refused(
  fixture: Fixture,
  body: object | string | Buffer,
  headers?: Readonly<Record<string, string>>,
): Promise<WireError & { readonly status: number }> {
  const forwarded = (): number => DIALECTS.reduce((sum, dialect) => sum + fixture.upstream(dialect).requests.length, 0)
  const before = forwarded()
  const reply = await fixture.post(body, headers)
  const error = await reply.error()
  expect(forwarded(), 'requests that reached an upstream').to.equal(before)
  expect(reply.headers['content-type']).to.equal('application/json')
  expect(error).to.have.all.keys('message', 'type', 'param', 'code')
  expect(error).to.include({ type: 'invalid_request_error' })
  return { status: reply.status, ...error }
}
