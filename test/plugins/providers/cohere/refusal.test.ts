import { expect } from 'chai'
import { cohere } from './support.ts'

const provider = await cohere()

function refusalOf(status: number, body: string | object) {
  return provider.error!({ status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) })
}

describe('cohere: what an error means', () => {
  for (const [status, meaning] of [
    [400, { status: 400 }],
    [401, { status: 401 }],
    [402, { status: 429, code: 'insufficient_quota' }],
    [403, { status: 403 }],
    [404, { status: 404 }],
    [422, { status: 422 }],
    [429, { status: 429 }],
    [498, { status: 400, code: 'content_filter' }],
    [499, { status: 503 }],
    [500, { status: 500 }],
    [501, { status: 501 }],
    [503, { status: 503 }],
    [504, { status: 504 }],
  ] as const) {
    it(`${status}`, () => expect(refusalOf(status, { message: 'Words.' })).to.deep.equal({ ...meaning, message: 'Words.' }))
  }

  it('a prompt that is too long has the code clients look for', () => {
    const message = 'too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 130000.'
    expect(refusalOf(400, { message })).to.include({ status: 400, code: 'context_length_exceeded', param: 'messages' })
  })

  it('a reply that may be longer than it can be is another mistake', () => {
    const message = 'too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model.'
    expect(refusalOf(400, { message })).to.deep.equal({ status: 400, message })
  })

  it('a trial key that is used up is no rate limit, for waiting does not help', () => {
    const message = 'You are using a Trial key, which is limited to 1000 API calls / month. You can continue for free later.'
    expect(refusalOf(429, { message })).to.include({ status: 429, code: 'insufficient_quota' })
    const minute = 'You are using a Trial key, which is limited to 20 API calls / minute.'
    expect(refusalOf(429, { message: minute })).to.deep.equal({ status: 429, message: minute })
  })

  it("a proxy's page leaves the status to speak", () => {
    expect(refusalOf(502, '<html>Bad gateway</html>')).to.deep.equal({ status: 502 })
    expect(refusalOf(413, '[]')).to.deep.equal({ status: 413 })
    expect(refusalOf(500, '{"message":{}}')).to.deep.equal({ status: 500 })
  })
})
