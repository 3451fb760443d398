import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { ModelListing } from '../../../core/routing/listing.ts'
import type { RoutingTable } from '../../../core/routing/table.ts'
import type { Model, Principal } from '../../../core/sdk/api.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const principal = (...globs: string[]) => ({ kind: 'live', models: [globs] }) as unknown as Principal

describe('the list of models', () => {
  let discovered: readonly Model[]
  let listing: ModelListing

  beforeEach(() => {
    discovered = [{ id: 'old' }]
    const upstream = { name: 'up', catalogue: { complete: true, models: async () => discovered } }
    const table = {
      namespaces: new Map([['up', upstream]]),
      curated: new Map(),
      resolve: (id: string) => ({ id, namespace: 'up', model: id.slice('up/'.length) }),
      served: () => () => true,
    }
    listing = new ModelListing(table as unknown as RoutingTable, () => ({}))
  })

  const idsFor = async (caller: Principal) => (await listing.list(caller)).map(({ id }) => id)

  it('is made once for all keys with the same globs, until the models change', async () => {
    const list = await listing.list(principal('up/*'))
    expect(await listing.list(principal('up/*'))).to.equal(list)
    discovered = [{ id: 'new' }]
    expect(await idsFor(principal('up/*'))).to.deep.equal(['up/new'])
  })

  it('is written once in each form for all keys with the same globs, until the models change', async () => {
    const form = (name: string) => ({
      name,
      write: (models: readonly { readonly id: string }[]) => `${name}: ${models.map(({ id }) => id)}`,
    })
    const bytes = await listing.written(principal('up/*'), form('a'))
    expect(String(bytes)).to.equal('a: up/old')
    expect(await listing.written(principal('up/*'), form('a'))).to.equal(bytes)
    expect(String(await listing.written(principal('up/*'), form('b')))).to.equal('b: up/old')
    discovered = [{ id: 'new' }]
    expect(String(await listing.written(principal('up/*'), form('a')))).to.equal('a: up/new')
  })

  it('of models that have changed is not kept for keys that do not ask again', async () => {
    const old = new WeakRef((await listing.list(principal('up/*')))[0]!)
    discovered = [{ id: 'new' }]
    expect(await idsFor(principal('up/new'))).to.deep.equal(['up/new'])
    // It is kept to the end of the turn in which it was used.
    await turn()
    collectGarbage()
    collectGarbage()
    expect(old.deref()).to.equal(undefined)
  })
})
