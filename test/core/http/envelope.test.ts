import { expect } from 'chai'
import fc from 'fast-check'
import type { ParameterizedContext } from 'koa'
import type { GatewayError } from '../../../core/errors.ts'
import { refuseAmbiguous } from '../../../core/http/app.ts'

interface Envelope {
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly httpVersion?: string
  readonly url?: string
}

/** The error for a request that Node's parser accepts; undefined if the check accepts it too. */
function refusal({
  headers = [['Host', 'gateway']],
  httpVersion = '1.1',
  url = '/v1/models',
}: Envelope): GatewayError | undefined {
  const request = {
    method: 'GET',
    url,
    httpVersion,
    rawHeaders: headers.flat(),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
  }
  try {
    refuseAmbiguous({ req: request } as unknown as ParameterizedContext, () => Promise.resolve())
  } catch (error) {
    return error as GatewayError
  }
}

const word = fc.stringMatching(/^[A-Za-z0-9._~-]{1,20}$/)
const port = fc.option(fc.nat(65_535).map(String), { nil: '' }).map((digits) => (digits === '' ? '' : `:${digits}`))
const address = fc.ipV6().map((text) => `[${text}]`)

describe('the check of a request without its body', () => {
  it('accepts a Host that is a name or an address, with or without a port', () => {
    fc.assert(
      fc.property(fc.oneof(word, address, fc.ipV4(), fc.domain()), port, (host, suffix) => {
        expect(refusal({ headers: [['host', host + suffix]] })).to.equal(undefined)
      }),
    )
  })

  it('refuses any other Host, and closes the connection', () => {
    const odd = fc.constantFrom(...'/?#@\\,;&=%"\'<>{}|^`()*+!$ \t\0é')
    fc.assert(
      fc.property(fc.string(), odd, fc.string(), (before, character, after) => {
        const error = refusal({ headers: [['host', before + character + after]] })
        expect(error).to.include({ row: 'malformed_http', status: 400 })
        expect(error?.headers).to.deep.equal({ connection: 'close' })
      }),
    )
  })

  it('accepts a target that begins with a slash and has no hash, and refuses any other', () => {
    const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
    const text = fc.array(character, { maxLength: 30 }).map((characters) => characters.join(''))
    fc.assert(
      fc.property(text, (url) => {
        const plain = url.startsWith('/') && !url.includes('#')
        expect(refusal({ url })?.row).to.equal(plain ? undefined : 'unknown_url')
      }),
    )
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(refusal({ url: `/${before}#${after}` })?.row).to.equal('unknown_url')
      }),
    )
  })

  for (const [what, envelope, row] of [
    ['HTTP/1.0 without a Host', { httpVersion: '1.0', headers: [] }, undefined],
    ['HTTP/1.1 without a Host', { headers: [] }, 'malformed_http'],
    [
      'two Hosts',
      {
        headers: [
          ['host', 'a'],
          ['HOST', 'a'],
        ],
      },
      'malformed_http',
    ],
    ['HTTP/0.9', { httpVersion: '0.9' }, 'http_version_not_supported'],
    ['HTTP/2.0', { httpVersion: '2.0' }, 'http_version_not_supported'],
    [
      'chunks',
      {
        headers: [
          ['host', 'a'],
          ['transfer-encoding', 'Chunked'],
        ],
      },
      undefined,
    ],
    ['chunks under HTTP/1.0', { httpVersion: '1.0', headers: [['transfer-encoding', 'chunked']] }, 'malformed_http'],
    [
      'compressed chunks',
      {
        headers: [
          ['host', 'a'],
          ['transfer-encoding', 'gzip, chunked'],
        ],
      },
      'malformed_http',
    ],
    [
      'the one expectation that there is',
      {
        headers: [
          ['host', 'a'],
          ['expect', '100-Continue'],
        ],
      },
      undefined,
    ],
    [
      'another expectation',
      {
        headers: [
          ['host', 'a'],
          ['expect', '200-ok'],
        ],
      },
      'expectation_failed',
    ],
    ['100 headers', { headers: [['host', 'a'], ...Array.from({ length: 99 }, () => ['a', 'b'] as const)] }, undefined],
    ['101 headers', { headers: [['host', 'a'], ...Array.from({ length: 100 }, () => ['a', 'b'] as const)] }, 'headers_too_large'],
  ] as const satisfies readonly (readonly [string, Envelope, string | undefined])[]) {
    it(`${row === undefined ? 'accepts' : 'refuses'} ${what}`, () => {
      expect(refusal(envelope)?.row).to.equal(row)
    })
  }
})
