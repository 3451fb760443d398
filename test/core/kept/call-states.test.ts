import { expect } from 'chai'
import { KeptCallStates } from '../../../core/kept/call-states.ts'
import { NO_VALUES, type ValueStore } from '../../../core/kept/value-store.ts'
import { testCall } from '../../../core/testing/kit.ts'

const ID = 'call_0123456789abcdef'
const KEEPER = { namespace: 'openai', account: 'acme', secret: 's' }
const called = (id: string, more: object = {}) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' }, ...more }],
})
const callWith = (...messages: object[]) => testCall({ model: 'm', messages: [{ role: 'user', content: 'Hi' }, ...messages] })

describe('States of tool calls that are kept', () => {
  let counted: (readonly [number, ...string[]])[]
  const keptIn = (values: ValueStore) =>
    new KeptCallStates({
      values,
      threads: { compute: async (call, fn, input) => fn.run(call, input) },
      uses: { add: (...used) => void counted.push(used) },
    })

  beforeEach(() => {
    counted = []
  })

  it('are not waited for longer than half a second', async () => {
    const silent = { ...NO_VALUES, get: () => new Promise<never>(() => undefined) }
    const started = performance.now()
    const states = await keptIn(silent).recall(callWith(called(ID)), KEEPER)
    expect(states.size).to.equal(0)
    expect(performance.now() - started).to.be.within(490, 5000)
    expect(counted).to.deep.equal([[1, 'call-states', 'unavailable']])
  })

  it('are not sought where no thread is free to read a large call', async () => {
    const busy = new KeptCallStates({
      values: NO_VALUES,
      threads: { compute: () => Promise.reject(new Error('all threads are busy')) },
      uses: { add: (...used) => void counted.push(used) },
    })
    const large = Object.create(callWith(called(ID)), { large: { value: true } })
    expect((await busy.recall(large, KEEPER)).size).to.equal(0)
    expect(counted).to.deep.equal([[1, 'call-states', 'unavailable']])
  })

  it('are not asked for where there is nothing to ask', async () => {
    const forbidden = { ...NO_VALUES, get: () => expect.fail('asked') }
    const kept = keptIn(forbidden)
    for (const message of [called('call_0'), called(ID, { extra_content: { google: {} } }), { role: 'assistant', content: 'Hi' }])
      expect((await kept.recall(callWith(message), KEEPER)).size).to.equal(0)
    expect(counted).to.deep.equal([])
  })

  it('are asked for of the last 256 calls', async () => {
    let asked = 0
    const values = {
      ...NO_VALUES,
      get: async (_: unknown, keys: readonly string[]) => {
        asked = keys.length
        return []
      },
    }
    const messages = Array.from({ length: 300 }, (_, index) => called(`${ID}_${index}`))
    await keptIn(values).recall(callWith(...messages), KEEPER)
    expect(asked).to.equal(256)
  })

  it('are not kept for an id that comes again, nor for a client that gives states back', () => {
    const forbidden = { ...NO_VALUES, put: () => expect.fail('put') }
    const kept = keptIn(forbidden)
    kept.keep(callWith(), KEEPER, new Map([['call_0', { openai: {} }]]))
    kept.keep(callWith(called(ID, { extra_content: { openai: {} } })), KEEPER, new Map([[ID, { openai: {} }]]))
    expect(counted).to.deep.equal([])
  })

  it('are counted when the store is full', async () => {
    const put = Promise.withResolvers<'full'>()
    const kept = keptIn({ ...NO_VALUES, put: () => put.promise })
    kept.keep(callWith(), KEEPER, new Map([[ID, { openai: {} }]]))
    put.resolve('full')
    await new Promise(setImmediate)
    expect(counted).to.deep.equal([[1, 'call-states', 'full']])
  })
})
