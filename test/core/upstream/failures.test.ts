import { expect } from 'chai'
import { clean, refusalError, transportError } from '../../../core/upstream/failures.ts'

/** What an upstream's words may hold and no client may see; the part that tells is `canary`. */
const SECRETS: readonly string[] = [
  'https://canary.example/v1/x?key=1',
  'http://admin:canary@10.0.0.7:8000/v1',
  'wss://canary/realtime',
  'postgres://canary:5432/db',
  'canary.openai.com',
  'canary-7d9f.prod.svc.cluster.local:8000',
  'api.canary.de',
  'canary.co.uk/path',
  'canary:8000',
  'ops@canary.example',
  'Bearer canary.abc',
  'sk-proj-canary',
  'sk-ant-api03-canary',
  'sk_live_canary',
  'gsk_canary1',
  'xai-canary1',
  'sk-****canary',
  '****canary',
  'canary********',
  'AIzaSyD-canary2PouQMnMXa7eZSW0jkFMBWY',
  'AKIAcanaryNN7EXAMPLE',
  'org-canary1',
  'proj_canary1',
  'req_canary1',
  'acct_canary1',
  'user-canary1',
  'canary-e89b-12d3-a456-426614174000',
]

/** What a client needs, to mend its request. */
const WORDS: readonly string[] = [
  "Invalid type for 'messages[0].content': expected a string, but got an integer instead.",
  "Unknown parameter: 'web_search_options.user_location'.",
  "Missing required parameter: 'tools[0].function.name'.",
  "Invalid schema for response_format 'answer': In context=('properties', 'key_words'), 'additionalProperties' is required.",
  "This model's maximum context length is 128,000 tokens; you asked for 130,042 (max_tokens: 4096).",
  'temperature: must be at most 2.0, was 2.5 (see messages.0.audio.id)',
]

describe('an upstream’s message', () => {
  for (const secret of SECRETS) {
    it(`loses ${secret}`, () => {
      for (const sentence of [secret, `Not found at ${secret}, sorry.`, `('${secret}')`, `x=${secret};`]) {
        expect(clean(sentence)).not.to.match(/canary/i)
      }
      expect(clean(`Not found at ${secret} today.`)).to.match(/^Not found at .* today\.$/)
    })
  }

  it('loses IP addresses', () => {
    for (const address of ['10.1.2.3', '10.1.2.3:8000', '2001:db8::17', '[fe80::1]:8000', 'fd00:1:2:3:4:5:6:7']) {
      expect(clean(`Connected to ${address} in vain`)).to.equal('Connected to … in vain')
    }
  })

  for (const words of WORDS) it(`keeps “${words}”`, () => expect(clean(words)).to.equal(words))

  it('loses control characters, and all beyond 500 characters', () => {
    expect(clean('a\u0000b\r\n\u001b[31mc')).to.equal('a b [31mc')
    expect(clean('long '.repeat(1000))).to.have.length(500)
  })

  it('is searched in linear time', () => {
    const hostile = ['a.', 'a-', 'a:', ':', '0:', '@', 'a@', '1.', 'sk-', 'bearer ', '\u0000', '_']
    for (const piece of hostile) expect(clean(piece.repeat(100_000)).length).to.be.at.most(500)
  })
})

describe('an upstream’s refusal', () => {
  const told = (passedThrough?: string, hidden: readonly string[] = []) => ({ asked: 'open/gpt-x', passedThrough, hidden })

  it('contains no value that was sent with the request', () => {
    const refusal = { status: 400, param: 'plainword7', message: 'plainword7 of myhost:8443 may not; plainword7!' }
    const { message, param } = refusalError(refusal, told(undefined, ['plainword7', 'myhost:8443']))
    expect([message, param]).to.deep.equal(['… of … may not; …!', null])
  })

  it('of too many requests or an overload has the time to wait', () => {
    const waits = (status: number, retryAfter?: number) => refusalError({ status, retryAfter }, told()).headers['retry-after']
    expect([waits(429, 7), waits(429), waits(503, 7), waits(529, 1e9), waits(503)]).to.deep.equal([
      '7',
      '1',
      '7',
      '60',
      undefined,
    ])
  })

  it('for an error of the client keeps its status, OpenAI’s code and the parameter', () => {
    const error = refusalError({ status: 422, code: 'context_length_exceeded', param: 'messages', message: 'Too long.' }, told())
    expect(error.status).to.equal(422)
    expect(error.toJSON().error).to.deep.equal({
      message: 'Too long.',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    })
  })

  it('loses a code that is not a word, and a parameter that is not a path', () => {
    for (const odd of ['sk-proj-canary1', 'https://canary.example', 'Canary', '42', 'a'.repeat(80), 'x\ny']) {
      const { error } = refusalError({ status: 400, code: odd, message: 'No.' }, told()).toJSON()
      expect(error.code).to.equal(null)
    }
    const { error } = refusalError({ status: 400, param: 'https://canary.example', message: 'No.' }, told()).toJSON()
    expect(error.param).to.equal(null)
  })

  it('without a message has a default message', () => {
    for (const message of [undefined, '', ' \n ']) {
      const error = refusalError({ status: 400, ...(message !== undefined && { message }) }, told())
      expect(error.message).to.equal('The upstream refused the request as invalid.')
    }
  })

  it('of any other status loses its message', () => {
    for (const status of [200, 302, 401, 402, 403, 404, 408, 409, 418, 425, 429, 500, 503, 529, 999, Number.NaN]) {
      for (const passedThrough of [undefined, 'open/gpt-x']) {
        const text = JSON.stringify(
          refusalError({ status, code: 'canary', param: 'canary', message: 'canary' }, told(passedThrough)),
        )
        expect(text, String(status)).not.to.contain('canary')
      }
    }
  })

  it('names the model that the client requested, not that of the upstream', () => {
    const { error } = refusalError({ status: 404, message: 'canary' }, told('open/gpt-x')).toJSON()
    expect(error).to.include({ param: 'model', code: 'model_not_found' })
    expect(error.message).to.contain('`open/gpt-x`')
  })
})

describe('a failed connection', () => {
  const coded = (code: string, message = 'canary'): Error => Object.assign(new Error(message), { code })

  const CASES: readonly (readonly [code: string, sent: boolean, row: string])[] = [
    ['ECONNREFUSED', false, 'upstream_unreachable'],
    ['ENOTFOUND', false, 'upstream_unreachable'],
    ['CERT_HAS_EXPIRED', false, 'upstream_unreachable'],
    ['ECONNRESET', false, 'upstream_unreachable'],
    ['EMFILE', false, 'gateway_overloaded'],
    ['ENFILE', false, 'gateway_overloaded'],
    ['ETIMEDOUT', false, 'upstream_timeout'],
    ['UND_ERR_CONNECT_TIMEOUT', false, 'upstream_timeout'],
    ['ECONNRESET', true, 'upstream_disconnected'],
    ['EPIPE', true, 'upstream_disconnected'],
    ['EHOSTUNREACH', true, 'upstream_disconnected'],
    ['EPROTO', true, 'upstream_disconnected'],
    ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', true, 'upstream_disconnected'],
    ['UND_ERR_SOCKET', true, 'upstream_disconnected'],
    ['HPE_INVALID_EOF_STATE', true, 'upstream_disconnected'],
    ['HPE_INVALID_CONSTANT', true, 'upstream_invalid_response'],
    ['UND_ERR_HEADERS_OVERFLOW', true, 'upstream_invalid_response'],
    ['ERR_ASSERTION', true, 'upstream_invalid_response'],
    ['', true, 'upstream_invalid_response'],
  ]

  for (const [code, sent, row] of CASES) {
    it(`by ${code || 'an error without a code'} ${sent ? 'after' : 'before'} the request is ${row}`, () => {
      const error = transportError(coded(code), sent)
      expect(error.row).to.equal(row)
      expect(JSON.stringify(error)).not.to.contain('canary')
    })
  }

  it('to all addresses of a host is reported by the first', () => {
    const error = new AggregateError([coded('ETIMEDOUT'), coded('ECONNREFUSED')])
    expect(transportError(error, false).row).to.equal('upstream_timeout')
  })
})
