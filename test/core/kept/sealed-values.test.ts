import { expect } from 'chai'
import { keysOfKeeper, SealedValues } from '../../../core/kept/sealed-values.ts'
import { StoredValues } from '../../../core/kept/stored-values.ts'
import type { Entry } from '../../../core/kept/value-store.ts'
import type { Keeper } from '../../../core/protocol/kept-ids.ts'
import { ValuesInMemory } from './values-in-memory.ts'

const KEEPER: Keeper = { namespace: 'openai', account: 'acme', secret: 'of the credential' }
const VALUE = Buffer.from('{"thought":"secret"}')

describe('sealed values', () => {
  let put: Entry[]
  let store: StoredValues
  const sealedFor = (changes: Partial<Keeper> = {}) => {
    const keeper = { ...KEEPER, ...changes }
    return new SealedValues(store, { space: 'call-states', account: keeper.account }, [keysOfKeeper('call-states', keeper)])
  }

  beforeEach(() => {
    put = []
    const storage = new ValuesInMemory()
    store = new StoredValues({
      get: (place, keys) => storage.get(place, keys),
      put: (place, entries) => {
        put.push(...entries)
        return storage.put(place, entries)
      },
      add: (place, entry) => storage.add(place, entry),
      delete: (place, keys) => storage.delete(place, keys),
      sweep: () => storage.sweep(),
      close: () => storage.close(),
    })
  })
  afterEach(() => store?.close())

  it('come back as bytes to who has put them', async () => {
    const odd = '__proto__\0\u{1f600}'.repeat(100)
    await sealedFor().put(
      new Map([
        ['call_1', VALUE],
        [odd, Buffer.alloc(0)],
      ]),
    )
    const found = await sealedFor().get(['call_1', odd, 'call_2'])
    expect(found).to.deep.equal(
      new Map([
        ['call_1', VALUE],
        [odd, Buffer.alloc(0)],
      ]),
    )
    await sealedFor().delete(['call_1'])
    expect([...(await sealedFor().get(['call_1', odd])).keys()]).to.deep.equal([odd])
  })

  for (const [who, keeper] of Object.entries({
    'another account': { account: 'other' },
    'another namespace': { namespace: 'azure' },
    'another credential of the namespace': { credential: 'second' },
    'a gateway with another key of the vendor': { secret: 'another' },
  })) {
    it(`are nothing to ${who}`, async () => {
      await sealedFor().put(new Map([['call_1', VALUE]]))
      expect(await sealedFor(keeper).get(['call_1'])).to.deep.equal(new Map())
    })
  }

  it('tell the store neither value nor key, and are another text each time', async () => {
    await sealedFor().put(new Map([['call_1', VALUE]]))
    await sealedFor().put(new Map([['call_1', VALUE]]))
    const [[name, text] = [], [sameName, otherText] = []] = put
    expect(name)
      .to.equal(sameName)
      .and.to.match(/^[\w-]{43}$/)
    expect(text).not.to.equal(otherText)
    expect(Buffer.from(text!, 'base64').toString('latin1')).not.to.include('secret')
  })

  it('do not open if the store has changed or exchanged them', async () => {
    await sealedFor().put(
      new Map([
        ['a', VALUE],
        ['b', VALUE],
      ]),
    )
    const [[a, ofA], [b, ofB]] = put as [Entry, Entry]
    const place = { space: 'call-states', account: 'acme' } as const
    const changed = Buffer.from(ofB, 'base64')
    changed[changed.length - 1]! ^= 1
    await store.put(place, [
      [a, ofB],
      [b, changed.toString('base64')],
    ])
    expect(await sealedFor().get(['a', 'b'])).to.deep.equal(new Map())
    await store.put(place, [
      [a, ofA],
      [b, 'short'],
    ])
    expect([...(await sealedFor().get(['a', 'b'])).keys()]).to.deep.equal(['a'])
  })
})
