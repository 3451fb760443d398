import { setTimeout as delay } from 'node:timers/promises'
import { openStore, type Store } from '../../../core/store/database.ts'
import { bodyOf, createClient } from '../client.ts'
import type { SoakedGateway, SoakFixture } from '../fixture.ts'
import { createKey } from '../management.ts'
import { exactly, type Finding } from '../scenario.ts'

const KILLS = 100
/** The longest time until a gateway is killed: enough for calls to be stored. */
const WRITING_MS = 2000
/** Concurrent loops that create keys, and as many that call. */
const WRITERS = 4

/** The database of a gateway that is killed repeatedly. */
export interface Victim {
  /** The database's name in findings. */
  readonly name: string
  readonly url: string
}

/** Kills a gateway while it writes: everything acknowledged must be stored, and nothing partially. */
export async function checkKills(
  fixture: SoakFixture,
  { name, url }: Victim,
  progress: (message: string) => void,
): Promise<readonly Finding[]> {
  const acknowledged: string[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const gateway = await fixture.start(url)
    const writing = write(gateway, acknowledged)
    await delay(Math.random() * WRITING_MS)
    gateway.kill('SIGKILL')
    await writing
    if (kill % 20 === 19) progress(`${name}: killed ${kill + 1} times, ${acknowledged.length} keys`)
  }
  const store = await openStore(url)
  try {
    const [keys, audited] = [await keysIn(store), await auditedIn(store)]
    const after = `${name}: killed ${KILLS} times while writing:`
    return [
      exactly(0, `${after} of ${acknowledged.length} acknowledged keys, lost`, acknowledged.filter((id) => !keys.has(id)).length),
      exactly(0, `${after} of their audit rows, lost`, acknowledged.filter((id) => !audited.has(id)).length),
      exactly(
        0,
        `${after} keys without an audit row, or the reverse`,
        [...keys].filter((id) => !audited.has(id)).length + [...audited].filter((id) => !keys.has(id)).length,
      ),
      exactly(0, `${after} of ${await callsIn(store)} calls, not in the sums`, (await callsIn(store)) - (await summedIn(store))),
    ]
  } finally {
    await store.close()
  }
}

/** Creates keys and calls until the gateway is killed. */
async function write(gateway: SoakedGateway, acknowledged: string[]): Promise<void> {
  const client = createClient(gateway, gateway.keys.many)
  const makeKeys = async (): Promise<never> => {
    for (;;) acknowledged.push((await createKey(gateway, 'short-lived')).id)
  }
  const call = async (): Promise<never> => {
    for (;;) await client.call(bodyOf({ model: 'open/whole' }))
  }
  const writers = Array.from({ length: WRITERS }, () => [makeKeys(), call()]).flat()
  await Promise.allSettled(writers)
  client.close()
}

const idsOf = (rows: readonly { readonly id: string | null }[]): ReadonlySet<string> => new Set(rows.map(({ id }) => id!))

const keysIn = async (store: Store) => idsOf(await store.read(store.db.selectFrom('keys').select('id')))

const auditedIn = async (store: Store) =>
  idsOf(await store.read(store.db.selectFrom('audit').select('object_id as id').where('action', '=', 'key.create')))

async function callsIn(store: Store): Promise<number> {
  const calls = store.db.selectFrom('calls').where('endpoint', '<>', 'models')
  const [all] = await store.read(calls.select(({ fn }) => fn.countAll<string>().as('count')))
  return Number(all!.count)
}

async function summedIn(store: Store): Promise<number> {
  const days = store.db.selectFrom('usage').select('requests').where('span', '=', 'day')
  const all = await store.read(days.where('dimension', '=', 'all').where('scope', '=', ''))
  return all.reduce((sum, { requests }) => sum + Number(requests), 0)
}
