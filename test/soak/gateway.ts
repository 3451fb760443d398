/**
 * The gateway under test, as a process: `node --expose-gc gateway.ts DATABASE_URL ROUTES_PATH`. It runs as in production, with a probe
 * of its process added, and asks the name server of the command. Prints an `Announcement` as one line of JSON.
 */
import { startGateway } from '../../core/gateway/gateway.ts'
import { createKey } from '../../core/keys/keys.ts'
import { createLog } from '../../core/observe/log.ts'
import { openStore } from '../../core/store/database.ts'
import { askNameServer } from '../support/dns-server.ts'
import { startProbe } from './probe.ts'

/** Addresses and keys of a started gateway. */
export interface Announcement {
  readonly url: string
  /** The base URL of its probe. */
  readonly probe: string
  /** A key of each rate class, a test key and an admin key. */
  readonly keys: { readonly many: string; readonly few: string; readonly test: string; readonly admin: string }
}

askNameServer(process.env.SOAK_NAME_SERVER!)
const store = await openStore(process.argv[2]!)
const keyOf = async (rateClass: string) => (await createKey(store, { name: rateClass, kind: 'live', rateClass })).secret
const admin = (await createKey(store, { name: 'admin', kind: 'admin' })).secret
const test = (await createKey(store, { name: 'test', kind: 'test' })).secret
const keys = { many: await keyOf('many'), few: await keyOf('few'), test, admin }
const { url } = await startGateway({
  routes: process.argv[3]!,
  env: process.env,
  listen: { host: '127.0.0.1', port: 0 },
  store,
  log: createLog({ level: 'info' }),
  version: 'soak',
  workerThreads: 1,
})
const announcement: Announcement = { url, probe: await startProbe(), keys }
process.stdout.write(`${JSON.stringify(announcement)}\n`)
