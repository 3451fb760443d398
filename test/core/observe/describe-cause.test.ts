import { connect } from 'node:net'
import { expect } from 'chai'
import { CodedError } from '../../../core/errors.ts'
import { describeCause } from '../../../core/observe/describe-cause.ts'
import { GatewayError, UpstreamError } from '../../../core/sdk/api.ts'

const SECRET = 'sk-live-CANARYCANARY'

const coded = (code: unknown, options?: ErrorOptions): Error => Object.assign(new Error(SECRET, options), { code })

describe('The cause in the log', () => {
  it('is the code of a system error', async () => {
    const error = await new Promise((resolve) => connect(1, '127.0.0.1').once('error', resolve))
    expect(describeCause(error)).to.equal('ECONNREFUSED')
  })

  for (const code of [
    'UND_ERR_HEADERS_TIMEOUT',
    'HPE_INVALID_CONSTANT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'EAI_AGAIN',
    'SQLITE_BUSY',
  ]) {
    it(`is the code ${code}`, () => {
      expect(describeCause(coded(code))).to.equal(code)
    })
  }

  it('is the code of the nested cause, as of an error of fetch', () => {
    expect(describeCause(new TypeError('fetch failed', { cause: coded('ECONNRESET') }))).to.equal('ECONNRESET')
  })

  it('is the name of an error of the gateway', () => {
    expect(describeCause(new GatewayError('storage_unavailable', { cause: coded('SQLITE_FULL') }))).to.equal(
      'storage_unavailable',
    )
  })

  it("is the status of an upstream's refusal", () => {
    expect(describeCause(new UpstreamError({ status: 429, code: SECRET, message: SECRET }))).to.equal('UpstreamError 429')
  })

  it('is the class and the place of an error without a code, so that its author finds it', () => {
    const place = /^RangeError at file:\/\/.*describe-cause\.test\.ts:\d+:\d+$/
    expect(describeCause(new RangeError(SECRET))).to.match(place)
    expect(describeCause(new RangeError(''))).to.match(place)
    expect(describeCause(new RangeError('a'))).to.match(place)
  })

  it('is the class of an error that has neither a code nor a name of its own', () => {
    class ConnectionTimeoutError extends Error {}
    expect(describeCause(new ConnectionTimeoutError(SECRET))).to.match(/^ConnectionTimeoutError at file:/)
  })

  it('is the state of SQL of an error of PostgreSQL', () => {
    expect(describeCause(coded('57P01'))).to.equal('SQLSTATE 57P01')
  })

  it('is the code of an error of the gateway that only the log shows', () => {
    expect(describeCause(new CodedError('COUNTER_CONTENDED', SECRET))).to.equal('COUNTER_CONTENDED')
  })

  it('is absent if nothing was thrown', () => {
    expect(describeCause(undefined)).to.equal(undefined)
  })

  const renamed = new Error(SECRET)
  renamed.name = SECRET
  const rewritten = new Error('before')
  rewritten.message = SECRET
  rewritten.stack = `Error: ${SECRET}x\n    at ${SECRET} (/${SECRET}:1:1)`
  const emptied = new Error(`x\n    at ${SECRET} (file:///${SECRET}:1:1)`)
  // The first read of the stack formats it, with the message of that moment.
  void emptied.stack
  emptied.message = ''
  const circular: Error = new Error(SECRET)
  circular.cause = circular
  const throwing = new Proxy(new Error(SECRET), {
    get: () => {
      throw new Error(SECRET)
    },
  })

  for (const [what, error] of Object.entries({
    'a string': SECRET,
    'an object': { message: SECRET, name: SECRET, toString: () => SECRET },
    null: null,
    'a symbol': Symbol(SECRET),
    'an error that quotes it': new Error(SECRET),
    'a message that imitates stack frames': new Error(`x\n    at ${SECRET} (file:///${SECRET}:1:1)\n    at /${SECRET}:2:2`),
    'a class named like it': renamed,
    'a stack that was rewritten': rewritten,
    'a message that was emptied': emptied,
    'a code of another shape': coded(SECRET),
    'a code like an AWS key id': coded('AKIACANARYCANARY1234'),
    'a code that is not a string': coded({ toString: () => SECRET }),
    'a cause that is a string': new Error('x', { cause: SECRET }),
    'an error that is its own cause': circular,
    'an error that cannot be read': throwing,
    'a parse error that quotes the body': (() => {
      try {
        return JSON.parse(`{"content": ${SECRET}}`)
      } catch (error) {
        return error
      }
    })(),
  })) {
    it(`never holds the thrown value: ${what}`, () => {
      expect(describeCause(error)).to.be.a('string').that.does.not.include('CANARY')
    })
  }
})
