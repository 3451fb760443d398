import { expect } from 'chai'
import { type AttemptOptions, CLIENT_GONE, UpstreamAttempt } from '../../../core/dispatch/attempt.ts'
import { GatewayError } from '../../../core/errors.ts'
import { testCall } from '../../../core/testing/gateway/doubles.ts'

describe('an attempt', () => {
  it('ends also if its tokens cannot be told', async () => {
    const call = Object.defineProperty(Object.create(testCall({ model: 'a/1' }), { mayHave: { value: () => false } }), 'size', {
      get() {
        throw new Error('no size')
      },
    })
    const attempt = new UpstreamAttempt({
      call: Object.defineProperties(call, { large: { value: false }, endpoint: { value: 'chat.completions' } }),
      served: { namespace: 'a', model: '1', provider: 'test' },
      handler: {
        request: () => {
          throw new GatewayError('upstream_error')
        },
      },
      format: {},
      limits: { connect: 1000, firstByte: 1000, idle: 1000 },
      timer: { ran: () => undefined },
      signal: new AbortController().signal,
    } as unknown as AttemptOptions)
    const { result, tokens } = await attempt.run({} as never)
    expect([result, tokens]).to.deep.equal(['internal_error', undefined])
  })
})

describe('the end of a call by its client', () => {
  it('cannot be changed by a plugin, and is no error for a client', () => {
    expect(CLIENT_GONE).to.be.instanceOf(DOMException).and.to.not.be.instanceOf(GatewayError)
    expect(CLIENT_GONE.name).to.equal('AbortError')
    expect(Object.isFrozen(CLIENT_GONE)).to.equal(true)
  })
})
