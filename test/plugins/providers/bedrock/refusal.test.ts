import { expect } from 'chai'
import { bedrock } from './support.ts'

const provider = await bedrock()

function refusalOf(status: number, type: string | undefined, body: string | object) {
  const headers: Record<string, string> = type === undefined ? {} : { 'x-amzn-errortype': type }
  return provider.error!({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
}

describe('bedrock: what an error means', () => {
  for (const [status, type, meaning] of [
    [400, 'ValidationException', { status: 400 }],
    [403, 'AccessDeniedException', { status: 403 }],
    [403, 'UnrecognizedClientException', { status: 401 }],
    [403, 'ExpiredTokenException', { status: 401 }],
    [403, 'InvalidSignatureException', { status: 401 }],
    [404, 'ResourceNotFoundException', { status: 404 }],
    [429, 'ThrottlingException', { status: 429 }],
    [400, 'ServiceQuotaExceededException', { status: 429, code: 'insufficient_quota' }],
    [429, 'ModelNotReadyException', { status: 503 }],
    [408, 'ModelTimeoutException', { status: 504 }],
    [424, 'ModelErrorException', { status: 502 }],
    [500, 'InternalServerException', { status: 500 }],
    [503, 'ServiceUnavailableException', { status: 503 }],
    [418, 'SomethingNewException', { status: 418 }],
  ] as const) {
    it(`${status} ${type}`, () => {
      expect(refusalOf(status, type, { message: 'Words.' })).to.deep.equal({ ...meaning, message: 'Words.' })
    })
  }

  it('the name stands in the header or in the body, with an address behind it or a namespace before it', () => {
    const meant = { status: 401, message: 'Words.' }
    expect(refusalOf(403, 'ExpiredTokenException:http://internal.amazon.com/coral/', { Message: 'Words.' })).to.deep.equal(meant)
    const __type = 'com.amazon.coral.service#UnrecognizedClientException'
    expect(refusalOf(403, undefined, { __type, message: 'Words.' })).to.deep.equal(meant)
  })

  it('a prompt that is too long has the code clients look for', () => {
    for (const message of [
      'Input is too long for requested model.',
      'The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum',
      "This model's maximum context length is 131072 tokens. Please reduce the length of the prompt",
      'Too many input tokens. Max input tokens: 8192',
    ]) {
      const meaning = refusalOf(400, 'ValidationException', { message })
      expect(meaning).to.include({ status: 400, code: 'context_length_exceeded', param: 'messages' })
    }
  })

  it('a name that is no model is one that does not exist', () => {
    expect(refusalOf(400, 'ValidationException', { message: 'The provided model identifier is invalid.' })).to.include({
      status: 404,
    })
  })

  it('words count only where the name does not say more', () => {
    expect(refusalOf(503, 'ServiceUnavailableException', { message: 'Input is too long to wait.' })).to.include({ status: 503 })
  })

  it("a proxy's page leaves the status to speak", () => {
    expect(refusalOf(502, undefined, '<html>Bad gateway</html>')).to.deep.equal({ status: 502 })
    expect(refusalOf(413, undefined, '[]')).to.deep.equal({ status: 413 })
    expect(refusalOf(500, undefined, '{"message":{}}')).to.deep.equal({ status: 500 })
    expect(refusalOf(403, undefined, '{"Message":"Authentication failed"}')).to.include({ status: 403 })
  })
})
