/**
 * The gateway that is soaked, a process of its own: `node --expose-gc gateway.ts DATABASE TABLE`, the URL of one and the path of the other.
 * It runs as an operator would run it, but for a window on its process. Prints an `Announcement`, one line of JSON.
 */
import { startGateway } from '../../core/gateway/gateway.ts'
import { createKey } from '../../core/keys/keys.ts'
import { createLog } from '../../core/observe/log.ts'
import { openStore } from '../../core/store/database.ts'
import { openWindow } from './window.ts'

/** What a started gateway tells. */
export interface Announcement {
  readonly url: string
  /** Where its window is. */
  readonly window: string
  /** A key of each rate class, and one that manages. */
  readonly keys: { readonly many: string; readonly few: string; readonly admin: string }
}

const store = await openStore(process.argv[2]!)
const keyOf = async (rateClass: string) => (await createKey(store, { name: rateClass, kind: 'live', rateClass })).secret
const admin = (await createKey(store, { name: 'admin', kind: 'admin' })).secret
const keys = { many: await keyOf('many'), few: await keyOf('few'), admin }
const { url } = await startGateway({
  routes: process.argv[3]!,
  env: process.env,
  listen: { host: '127.0.0.1', port: 0 },
  store,
  log: createLog({ level: 'info' }),
  version: 'soak',
  workerThreads: 1,
})
const announcement: Announcement = { url, window: await openWindow(), keys }
process.stdout.write(`${JSON.stringify(announcement)}\n`)
