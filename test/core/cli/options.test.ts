import { expect } from 'chai'
import { InvalidArgumentError } from 'commander'
import { toIssuer, toListen, toNetworks, toOrigin, toOrigins, toOverlap } from '../../../core/cli/options.ts'

const GOOD: readonly (readonly [(text: string) => unknown, string, unknown])[] = [
  [toOrigin, 'https://llm.example.com/', 'https://llm.example.com'],
  [toOrigin, 'http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  [toOrigins, 'https://chat.example.com/, http://localhost:3000', ['https://chat.example.com', 'http://localhost:3000']],
  [toOrigins, 'tauri://localhost', ['tauri://localhost']],
  [toIssuer, 'https://login.example.com/realms/staff', 'https://login.example.com/realms/staff'],
  [toIssuer, 'http://localhost:9000', 'http://localhost:9000'],
  [toNetworks, '10.0.0.0/8, 192.168.1.7,2001:db8::/32', ['10.0.0.0/8', '192.168.1.7', '2001:db8::/32']],
  [toListen, '[::1]:9090', { host: '::1', port: 9090 }],
  [toOverlap, '90s', 90_000],
  [toOverlap, '7d', 7 * 86_400_000],
  [toOverlap, '0', 0],
]

const WRONG: readonly (readonly [(text: string) => unknown, string])[] = [
  [toOrigin, 'llm.example.com'],
  [toOrigin, 'https://llm.example.com/v1'],
  [toOrigin, 'https://user:password@llm.example.com'],
  [toOrigin, 'ftp://llm.example.com'],
  [toOrigins, '*'],
  [toOrigins, 'null'],
  [toOrigins, 'https://*.example.com'],
  [toOrigins, 'https://chat.example.com,'],
  [toOrigins, 'https://chat.example.com/app'],
  [toOrigins, 'tauri://localhost/app'],
  [toIssuer, 'http://login.example.com'],
  [toIssuer, 'http://127.0.0.1.example.com'],
  [toIssuer, 'login'],
  [toNetworks, ''],
  [toNetworks, '10.0.0.0/33'],
  [toNetworks, 'proxy.internal'],
  [toNetworks, '10.0.0.0/8;192.168.1.7'],
  [toListen, '9090'],
  [toOverlap, '1'],
  [toOverlap, '-1h'],
  [toOverlap, '1w'],
]

describe('the value of an option', () => {
  for (const [read, text, wanted] of GOOD) {
    it(`can be ${text}`, () => {
      expect(read(text)).to.deep.equal(wanted)
    })
  }

  for (const [read, text] of WRONG) {
    it(`cannot be ${text === '' ? 'empty' : text} (${read.name}); the error says what to write`, () => {
      expect(() => read(text))
        .to.throw(InvalidArgumentError)
        .with.property('message')
        .that.matches(/^Give /)
    })
  }
})
