import { expect } from 'chai'
import { toRefusal } from '../../../../plugins/providers/gemini/refusal.ts'
import { complete } from './gemini.ts'
import { failure } from './generate-content.ts'

const refusal = (code: number, status: string, message = '', details: readonly object[] = []) => {
  const { body } = failure(code, status, message, details)
  return toRefusal({ status: code, body: JSON.stringify(body) })
}

const violations = (...quotaIds: readonly string[]) => [{ violations: quotaIds.map((quotaId) => ({ quotaId })) }]

describe('gemini: a refusal', () => {
  for (const [code, status, message, details, expected] of [
    [400, 'INVALID_ARGUMENT', 'Unknown name "x"', [], { status: 400 }],
    [400, 'FAILED_PRECONDITION', 'Precondition check failed.', [], { status: 400 }],
    [400, 'OUT_OF_RANGE', 'Too far.', [], { status: 400 }],
    [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [], { status: 401 }],
    [400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.', [], { status: 401 }],
    [400, 'INVALID_ARGUMENT', 'No.', [{ reason: 'API_KEY_INVALID' }], { status: 401 }],
    [400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.', [], { status: 403 }],
    [400, 'FAILED_PRECONDITION', 'Please enable billing on your project.', [], { status: 403 }],
    [
      400,
      'INVALID_ARGUMENT',
      'The input token count exceeds the maximum number of tokens allowed 1048576.',
      [],
      { status: 400, code: 'context_length_exceeded', param: 'messages' },
    ],
    [401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.', [], { status: 401 }],
    [403, 'PERMISSION_DENIED', 'The caller does not have permission.', [], { status: 403 }],
    [404, 'NOT_FOUND', 'models/x is not found', [], { status: 404 }],
    [409, 'ABORTED', 'Again.', [], { status: 409 }],
    [429, 'RESOURCE_EXHAUSTED', 'Resource exhausted. Please try again later.', [], { status: 429 }],
    [429, 'RESOURCE_EXHAUSTED', 'Quota.', violations('PerMinute-FreeTier'), { status: 429 }],
    [429, 'RESOURCE_EXHAUSTED', 'Quota.', violations('PerMinute', 'RequestsPerDay'), { status: 429, code: 'insufficient_quota' }],
    [429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.', [], { status: 429, code: 'insufficient_quota' }],
    [499, 'CANCELLED', 'The operation was cancelled.', [], { status: 503 }],
    [500, 'INTERNAL', 'An internal error has occurred.', [], { status: 500 }],
    [501, 'UNIMPLEMENTED', 'Not yet.', [], { status: 500 }],
    [503, 'UNAVAILABLE', 'The model is overloaded.', [], { status: 503 }],
    [504, 'DEADLINE_EXCEEDED', 'Deadline expired.', [], { status: 504 }],
    [418, 'A_CODE_YET_TO_COME', 'Tea?', [], { status: 418 }],
  ] as const) {
    it(`${code} ${status} "${message}" is ${JSON.stringify(expected)}`, () => {
      expect(refusal(code, status, message, details)).to.deep.equal({ ...expected, message })
    })
  }

  it('says how long to wait', () => {
    const retry = (retryDelay: unknown) => refusal(429, 'RESOURCE_EXHAUSTED', '', [{ '@type': 'x' }, { retryDelay }]).retryAfter
    expect(['34.4s', '7s', '0.5s', '1m', 7, null].map(retry)).to.deep.equal([34.4, 7, 0.5, undefined, undefined, undefined])
  })

  it('of a stream comes in an array', () => {
    const { body } = failure(404, 'NOT_FOUND', 'models/x is not found')
    expect(toRefusal({ status: 404, body: JSON.stringify([body]) })).to.include({ status: 404, message: 'models/x is not found' })
  })

  for (const body of ['', '<html>', '[]', '7', '{}', '{"error":null}', '{"error":{}}', '{"error":{"details":[7],"code":"x"}}']) {
    it(`that says ${body || 'nothing'} is what its status says`, () => {
      expect(toRefusal({ status: 502, body })).to.deep.equal({ status: 502 })
    })
  }

  it('with status 200 is a refusal', async () => {
    const { body } = failure(429, 'RESOURCE_EXHAUSTED', 'Slow down.')
    expect(await complete(body).catch((error: unknown) => error)).to.include({ row: 'upstream_rate_limited', status: 429 })
  })
})
