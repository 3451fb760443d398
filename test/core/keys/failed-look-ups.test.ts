import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { KeyCache, KeyDirectory } from '../../../core/keys/directory.ts'
import { createSecret } from '../../../core/keys/format.ts'
import type { AccountHolder, KeyHolder } from '../../../core/keys/principal.ts'
import type { KeySource, KeyWatcher } from '../../../core/keys/source.ts'

const ACCOUNT: AccountHolder = { id: 'acme', models: ['*'], budgets: [] }
const HOLDER: KeyHolder = {
  key: { keyId: 'key_1', name: 'ci', kind: 'live', account: 'acme', models: [['*']], budgets: [] },
  account: ACCOUNT,
}

/** A source with one key, whose answers a test decides. */
class ScriptedSource implements KeySource {
  asked = 0
  answer: () => Promise<KeyHolder | undefined> = async () => HOLDER
  /** Undefined in a process that asks control. */
  readonly seenUntil?: () => number
  #watcher: KeyWatcher | undefined

  constructor(seenUntil?: () => number) {
    if (seenUntil !== undefined) this.seenUntil = seenUntil
  }

  async find(): Promise<KeyHolder | undefined> {
    this.asked += 1
    return this.answer()
  }

  async findAccount(): Promise<AccountHolder> {
    return ACCOUNT
  }

  used(): void {}

  watch(watcher: KeyWatcher): () => void {
    this.#watcher = watcher
    return () => undefined
  }

  /** Another process changed something. */
  change(): void {
    this.#watcher!.changed()
  }
}

const failing = async (): Promise<never> => {
  throw new Error('no database')
}
const revoked = async (): Promise<undefined> => undefined

describe('a key whose look-up failed', () => {
  const secret = createSecret('live')
  let source: ScriptedSource
  let directory: KeyDirectory
  let now: number

  beforeEach(() => {
    now = 1_000_000
    source = new ScriptedSource(() => Number.POSITIVE_INFINITY)
    directory = new KeyDirectory(source, { clock: () => now })
  })

  afterEach(() => mock.timers.reset())

  const isValid = async () => (await directory.verify(secret)) !== undefined

  it('after a change is accepted for ten seconds, and then looked up before it is used', async () => {
    await isValid()
    source.change()
    source.answer = failing
    expect(await isValid()).to.equal(true)
    source.answer = revoked
    now += 9_999
    expect([await isValid(), source.asked]).to.deep.equal([true, 2])
    now += 1
    expect([await isValid(), source.asked]).to.deep.equal([false, 3])
  })

  it('ten minutes after the last one is looked up again after ten seconds', async () => {
    await isValid()
    source.answer = failing
    now += 600_000
    expect(await isValid()).to.equal(true)
    await setImmediate()
    source.answer = revoked
    now += 9_999
    expect([await isValid(), source.asked]).to.deep.equal([true, 2])
    now += 1
    await isValid()
    await setImmediate()
    expect([await isValid(), source.asked]).to.deep.equal([false, 3])
  })

  it('in time is what the source says as soon as that arrives', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    await isValid()
    source.change()
    const late = Promise.withResolvers<KeyHolder | undefined>()
    source.answer = () => late.promise
    const verifying = isValid()
    mock.timers.tick(100)
    expect(await verifying).to.equal(true)
    late.resolve(HOLDER)
    await setImmediate()
    now += 60_000
    expect([await isValid(), source.asked]).to.deep.equal([true, 2])
  })

  it('is looked up for each process that asks control, since that keeps the result itself', async () => {
    const cache = new KeyCache(source, { patienceMs: 100, clock: () => now })
    await cache.holders.getNewest('digest')
    source.change()
    source.answer = failing
    expect(await cache.holders.getNewest('digest')).to.equal(HOLDER)
    source.answer = revoked
    expect(await cache.holders.getNewest('digest')).to.equal(undefined)
  })

  it('of a process that asks control is looked up after six seconds: what control says may be four seconds old', async () => {
    source = new ScriptedSource()
    directory = new KeyDirectory(source, { clock: () => now })
    await isValid()
    now += 5_999
    await isValid()
    expect(source.asked).to.equal(1)
    now += 1
    await isValid()
    expect(source.asked).to.equal(2)
  })
})
