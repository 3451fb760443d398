import { expect } from 'chai'
import { DatabaseValues } from '../../../core/kept/database-values.ts'
import { Keeping } from '../../../core/kept/keeping.ts'
import { KeptResponses } from '../../../core/kept/kept-responses.ts'
import { StoredValues } from '../../../core/kept/stored-values.ts'
import { newResponseId } from '../../../core/protocol/responses/own-ids.ts'
import { type HostCounter, Secret } from '../../../core/sdk/api.ts'
import { openStore } from '../../../core/store/database.ts'
import { onEachDatabase } from '../../support/databases.ts'

const DAY_MS = 24 * 3_600_000

onEachDatabase('a kept response', (database) => {
  it('is there for the days that the operator says, and then swept in pieces', async () => {
    let now = Date.now()
    const store = await openStore(await database())
    const storage = new DatabaseValues(store, () => now)
    const values = new StoredValues(storage)
    const keeping = new Keeping({ keys: [new Secret('k'.repeat(32))], days: 2, accounts: ['*'] })
    const written = Promise.withResolvers<void>()
    let kept = 0
    const add = (count: number, _: string, result: string): void => {
      if (result === 'kept') kept += count
      if (kept === 450) written.resolve()
    }
    const services = { values, keptUses: { add } as HostCounter }
    const responses = KeptResponses.of({ account: 'acme', kind: 'live' }, keeping, services)!
    const ids = Array.from({ length: 450 }, newResponseId)
    for (const id of ids) responses.keep(id, { chain: [], input: '"Hello"', response: '{"output":[]}' })
    await written.promise
    expect((await responses.get(ids)).size).to.equal(450)
    now += 2 * DAY_MS - 60_000
    expect((await responses.get(ids)).size).to.equal(450)
    now += 120_000
    expect((await responses.get(ids)).size).to.equal(0)
    expect((await storage.sweep()).get('responses')).to.equal(undefined)
    await values.close()
    await store.close()
  })
})
