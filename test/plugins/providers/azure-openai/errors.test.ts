import { expect } from 'chai'
import { azure } from './azure.ts'
import { failure } from './azure-reply.ts'

const provider = await azure()

const meaningOf = (status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) =>
  provider.error!({ status, headers, body: JSON.stringify(failure(status, code, message).body) })

describe('azure-openai: what an error means', () => {
  for (const [status, code, message, expected] of [
    [401, '401', 'Access denied due to invalid subscription key.', { status: 401 }],
    [401, 'PermissionDenied', 'The principal lacks the required data action.', { status: 401 }],
    [403, '403', 'Access denied due to Virtual Network/Firewall rules.', { status: 403 }],
    [403, '403', 'Out of call volume quota for OpenAI F0 pricing tier.', { status: 429, code: 'insufficient_quota' }],
    [404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.', { status: 404 }],
    [429, 'RateLimitReached', 'Your requests have exceeded the token rate limit.', { status: 429 }],
    [429, 'NoCapacity', 'The system is currently experiencing high demand.', { status: 429 }],
    [500, 'InternalServerError', 'Internal server error', { status: 500 }],
  ] as const) {
    it(`${status} ${code} "${message}" is ${JSON.stringify(expected)}`, () => {
      expect(meaningOf(status, code, message)).to.include(expected)
    })
  }

  it('how long to wait is told by a header, in milliseconds where it can be, or else in words', () => {
    const words = 'Please retry after 26 seconds.'
    expect(meaningOf(429, '429', words, { 'retry-after-ms': '1500', 'retry-after': '2' }).retryAfter).to.equal(1.5)
    expect(meaningOf(429, '429', words, { 'retry-after': '2' }).retryAfter).to.equal(2)
    expect(meaningOf(429, '429', words).retryAfter).to.equal(26)
    expect(meaningOf(429, '429', 'Slow down.')).not.to.have.property('retryAfter')
  })

  it("a proxy's page leaves the status to speak", () => {
    expect(provider.error!({ status: 502, headers: {}, body: '<html>' })).to.deep.equal({ status: 502 })
  })
})
