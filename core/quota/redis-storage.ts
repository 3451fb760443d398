import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
import type { CounterChange, CounterStorage } from './authority.ts'

/** How long a reply may take, in milliseconds. */
const REPLY_MS = 1000
/** The longest pause before an attempt to connect again, in milliseconds. */
const MAX_RECONNECT_MS = 1000
/** How often a change is tried again, if another gateway has changed the same counter in the meantime. */
const MAX_TRIES = 50
/** The longest pause before that, in milliseconds. */
const MAX_PAUSE_MS = 5

/** Of all keys of the gateway. */
const PREFIX = 'umg:quota:'

/** The state and the time of the server, whose clock all gateways share. */
const READ = `return {redis.call('GET', KEYS[1]), redis.call('TIME')}`

/** Sets the state, unless another gateway has changed it. */
const COMPARE_AND_SET = `
local state = redis.call('GET', KEYS[1]) or ''
if state ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`

/**
 * States in Redis or Valkey. Each script uses one key, so that a cluster may have the counters on any of its nodes. `url`:
 * `redis://[user:password@]host:port/database`, `rediss:` with TLS. `onError`: told when the connection fails; it is made again.
 */
export class RedisStorage implements CounterStorage {
  readonly #client: ReturnType<typeof createClient>

  constructor(url: string, onError: (error: Error) => void) {
    this.#client = createClient({
      url,
      // A question that cannot be asked now is answered without Redis.
      disableOfflineQueue: true,
      commandOptions: { timeout: REPLY_MS },
      socket: { connectTimeout: REPLY_MS, reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, MAX_RECONNECT_MS) },
    })
    this.#client.on('error', onError)
    // Resolves when it is connected; until then questions reject.
    this.#client.connect().catch(() => undefined)
  }

  async change(changes: ReadonlyMap<string, CounterChange>): Promise<void> {
    await Promise.all(Array.from(changes, ([id, change]) => this.#changeOne(PREFIX + id, change)))
  }

  async close(): Promise<void> {
    this.#client.destroy()
  }

  async #changeOne(key: string, { apply, lifetime }: CounterChange): Promise<void> {
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const [before, [seconds, micros]] = await this.#run<[string | null, [string, string]]>(READ, key)
      const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
      const state = apply(before === null ? undefined : JSON.parse(before), now)
      if (state === undefined) return
      if ((await this.#run(COMPARE_AND_SET, key, before ?? '', JSON.stringify(state), String(lifetime))) === 1) return
      await delay(Math.random() * MAX_PAUSE_MS)
    }
    throw new Error('the counter changes too often')
  }

  /** Runs a Lua script on one key. */
  #run<Reply>(script: string, key: string, ...args: readonly string[]): Promise<Reply> {
    return this.#client.sendCommand(['EVAL', script, '1', key, ...args])
  }
}
