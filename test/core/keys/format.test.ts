import { expect } from 'chai'
import { createSecret, kindOf, maskOf } from '../../../core/keys/format.ts'
import { digestOf, randomBase62 } from '../../../core/text/ids.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
// Made once with Python's zlib.crc32; a change of the format would invalidate every key in use.
const PINNED = 'sk-live-0123456789ABCDEFGHIJKLMNOPQRST0p6kdz'

describe('a key', () => {
  for (const kind of ['live', 'test', 'admin'] as const) {
    it(`looks like sk-${kind}-… and 36 letters and digits, and has its kind`, () => {
      const secret = createSecret(kind)
      expect(secret).to.match(new RegExp(`^sk-${kind}-[0-9A-Za-z]{36}$`))
      expect(kindOf(secret)).to.equal(kind)
    })
  }

  it('keeps its format', () => {
    expect(kindOf(PINNED)).to.equal('live')
  })

  it('is displayed by its first four random characters and its last four', () => {
    expect(maskOf(PINNED)).to.deep.equal({ prefix_shown: 'sk-live-0123', last_four: '6kdz' })
    expect(maskOf(`sk-admin-${PINNED.slice(8)}`).prefix_shown).to.equal('sk-admin-0123')
  })

  it('is unique', () => {
    expect(new Set(Array.from({ length: 1000 }, () => createSecret('live')))).to.have.property('size', 1000)
  })

  it('has all 62 characters with equal probability', () => {
    const counts = new Map<string, number>()
    for (const character of randomBase62(620_000)) counts.set(character, (counts.get(character) ?? 0) + 1)
    // 10,000 each are expected, with a deviation of 100; a remainder of random bytes would give some of them 12,000.
    for (const character of BASE62) expect(counts.get(character), character).to.be.within(9_000, 11_000)
  })

  it('is invalid with any one character replaced', () => {
    const secret = createSecret('live')
    const typos = [...secret].flatMap((own, at) =>
      [...BASE62].filter((other) => other !== own).map((other) => secret.slice(0, at) + other + secret.slice(at + 1)),
    )
    expect(typos.filter(kindOf)).to.deep.equal([])
  })

  it('is invalid with two neighbouring characters swapped', () => {
    const secret = createSecret('test')
    const swapped = Array.from(secret.slice(1), (right, at) => secret.slice(0, at) + right + secret[at] + secret.slice(at + 2))
    expect(swapped.filter((text) => text !== secret).filter(kindOf)).to.deep.equal([])
  })

  for (const [what, change] of Object.entries<(secret: string) => string>({
    'a blank before it': (secret) => ` ${secret}`,
    'a line feed after it': (secret) => `${secret}\n`,
    'a character too many': (secret) => `${secret}0`,
    'its end missing': (secret) => secret.slice(0, -1),
    'the prefix in capitals': (secret) => secret.replace('sk-', 'SK-'),
    'another prefix': (secret) => secret.replace('live', 'prod'),
    'letters of another alphabet': (secret) => secret.replace(/.$/, 'А'),
    'nothing left': () => '',
  })) {
    it(`is invalid with ${what}`, () => {
      expect(kindOf(change(createSecret('live')))).to.equal(undefined)
    })
  }

  it('is stored as the SHA-256 of the whole secret, in hex', () => {
    expect(digestOf('abc')).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})
