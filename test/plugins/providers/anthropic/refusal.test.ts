import { expect } from 'chai'
import { anthropic } from './support.ts'

const provider = await anthropic()

function refusalOf(status: number, error: unknown) {
  const body = typeof error === 'string' ? error : JSON.stringify({ type: 'error', error, request_id: 'req_upstream' })
  return provider.error!({ status, headers: {}, body })
}

describe('anthropic: what an error means', () => {
  for (const [status, type, meaning] of [
    [400, 'invalid_request_error', { status: 400 }],
    [401, 'authentication_error', { status: 401 }],
    [402, 'billing_error', { status: 429, code: 'insufficient_quota' }],
    [403, 'permission_error', { status: 403 }],
    [404, 'not_found_error', { status: 404 }],
    [422, 'invalid_request_error', { status: 422 }],
    [413, 'request_too_large', { status: 413 }],
    [429, 'rate_limit_error', { status: 429 }],
    [500, 'api_error', { status: 500 }],
    [504, 'timeout_error', { status: 504 }],
    [529, 'overloaded_error', { status: 503 }],
    [409, 'something_new', { status: 409 }],
  ] as const) {
    it(`${status} ${type}`, () => {
      expect(refusalOf(status, { type, message: 'Words.' })).to.deep.equal({ ...meaning, message: 'Words.' })
    })
  }

  it("an empty purse is the operator's matter, though Anthropic calls it a bad request", () => {
    const purse = { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' }
    expect(refusalOf(400, purse)).to.include({ status: 429, code: 'insufficient_quota' })
    const limit = { type: 'invalid_request_error', message: 'You have reached your specified API usage limits.' }
    expect(refusalOf(400, limit)).to.include({ status: 429, code: 'insufficient_quota' })
  })

  it('a prompt that is too long has the code clients look for', () => {
    for (const message of [
      'prompt is too long: 210000 tokens > 200000 maximum',
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    ]) {
      const meaning = refusalOf(400, { type: 'invalid_request_error', message })
      expect(meaning).to.include({ status: 400, code: 'context_length_exceeded', param: 'messages' })
    }
  })

  it('words count only where the type does not say more', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded; your credit balance is too low to wait.' }
    expect(refusalOf(529, error)).to.include({ status: 503 }).and.not.have.property('code')
  })

  it('a filtered prompt has the code clients look for', () => {
    const error = { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' }
    expect(refusalOf(400, error)).to.include({ status: 400, code: 'content_filter' })
  })

  it("a proxy's page leaves the status to speak", () => {
    expect(refusalOf(502, '<html>Bad gateway</html>')).to.deep.equal({ status: 502 })
    expect(refusalOf(529, '')).to.deep.equal({ status: 503 })
    expect(refusalOf(413, '[]')).to.deep.equal({ status: 413 })
    expect(refusalOf(500, '{"error":"words"}')).to.deep.equal({ status: 500 })
    expect(refusalOf(500, '{"error":{"type":["x"],"message":{}}}')).to.deep.equal({ status: 500 })
  })
})
