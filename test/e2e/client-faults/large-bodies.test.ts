import { expect } from 'chai'
import type { WireReply } from '../../support/raw-connection.ts'
import { watchParsing } from '../../support/watch-parsing.ts'
import { COMPLETION, expectError, type Fixture, startFixture } from './fixture.ts'

/** Characters. Of a large body members of at most 1 KiB are parsed, one by one. */
const SMALL = 1024

const HEAD = '{"model":"up/some-model","messages":['
const MESSAGE = '{"role":"user","content":""}'
const filled = (entry: string, count: number): string => `${HEAD}${Array(count).fill(entry).join()}]}`
/** So many other members, each with so many objects, before a message. */
const spread = (members: number, objects: number): string => {
  const value = `[${Array(objects).fill('{}').join()}]`
  const others = Array.from({ length: members }, (_, index) => `"m${index}":${value},`)
  return filled(MESSAGE, 1).replace('{', `{${others.join('')}`)
}
const LIMIT = 32 << 20

describe('The event loop', () => {
  let fixture: Fixture
  const parsing = watchParsing()

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  async function send(body: string): Promise<WireReply> {
    const connection = await fixture.connect()
    connection.write(fixture.call({ body }))
    const reply = await connection.reply()
    connection.socket.destroy()
    return reply
  }

  for (const [name, body, code] of [
    ['20 MB of brackets', '['.repeat(20 << 20), null],
    ['20 MB of brackets for messages', HEAD + '['.repeat(20 << 20), 'invalid_value'],
    ['20 MB of braces', `${HEAD}${'{"a":'.repeat(4 << 20)}`, 'invalid_value'],
    ['20 MB of a string that never ends', `${HEAD}"${'x'.repeat(20 << 20)}`, null],
    ['a million messages', filled(MESSAGE, 1_000_000), 'invalid_value'],
    ['200 members of 45,000 objects each', spread(200, 45_000), 'invalid_value'],
    ['two members of 30,000 objects each', spread(2, 30_000), 'invalid_value'],
    ['20 MB of backslashes', `${HEAD}"${'\\'.repeat(20 << 20)}`, null],
  ] as const) {
    it(`is not blocked by ${name}, which are refused without being parsed`, async () => {
      const refused = await send(body)
      expect(parsing.longest).to.be.below(SMALL)
      expectError(refused, { status: 400, code })
    })
  }

  for (const [name, body] of [
    ['30 MB of ordinary messages', filled(MESSAGE.replace('""', `"${'Hello, world! '.repeat(500)}"`), 4_300)],
    ['a body of the very limit', filled(MESSAGE.replace('""', `"${'x'.repeat(LIMIT - filled(MESSAGE, 1).length)}"`), 1)],
  ] as const) {
    it(`is not blocked by ${name}, which are forwarded without being parsed`, async () => {
      const reply = await send(body)
      expect(parsing.longest).to.be.below(SMALL)
      expect(reply).to.include({ status: 200, body: JSON.stringify(COMPLETION) })
      const sent = Buffer.from(body.replace('up/some-model', 'some-model'))
      expect(fixture.upstream.requests.at(-1)!.body.equals(sent)).to.equal(true)
    })
  }
})
