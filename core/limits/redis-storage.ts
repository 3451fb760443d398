import { setTimeout as delay } from 'node:timers/promises'
import { withTimeout } from '../async/timeout.ts'
import { CodedError } from '../errors.ts'
import { type RedisConnection, RedisError } from '../store/redis-connection.ts'
import type { CounterChange, CounterStorage } from './authority.ts'
import { parseState } from './counter.ts'

/** How often a change is tried again, if another gateway has changed the same counter in the meantime. */
const MAX_TRIES = 50
/** The longest pause before that, in milliseconds. */
const MAX_PAUSE_MS = 5

/** How long the change of one counter may take, in milliseconds: one node of a cluster must not make the others late for their processes. */
const CHANGE_MS = 800

/** Of all keys of the gateway. */
const PREFIX = 'umg:quota:'

/** Sets `state` to the text of the key; to false if it has none. */
const GET = `
local state = redis.pcall('GET', KEYS[1])
if type(state) == 'table' then
  if not string.find(state.err, '^WRONGTYPE') then return state end
  state = false
end`

/** The state and the time of the server, whose clock all gateways share. */
const READ = `${GET}
return {state, redis.call('TIME')}`

/** Sets the state, unless another gateway has changed it. */
const COMPARE_AND_SET = `${GET}
if (state or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`

/**
 * States in Redis or Valkey. Each script uses one key, so that a cluster may have the counters on any of its nodes. It
 * closes its connection.
 */
export class RedisStorage implements CounterStorage {
  readonly #connection: RedisConnection

  constructor(connection: RedisConnection) {
    this.#connection = connection
  }

  async change(changes: ReadonlyMap<string, CounterChange>): Promise<ReadonlyMap<string, unknown>> {
    const failed = new Map<string, unknown>()
    const changeOrNote = async ([id, change]: [string, CounterChange]): Promise<void> => {
      const attempt = { isOver: false }
      try {
        await withTimeout(CHANGE_MS, this.#changeOne(PREFIX + id, change, attempt))
      } catch (error) {
        failed.set(id, error)
      } finally {
        attempt.isOver = true
      }
    }
    await Promise.all(Array.from(changes, changeOrNote))
    // A server that replies can be reached: its error is of this counter.
    const unreachable = failed.values().find((error) => !(error instanceof RedisError))
    if (failed.size === changes.size && unreachable !== undefined) throw unreachable
    return failed
  }

  async close(): Promise<void> {
    this.#connection.destroy()
  }

  /** `attempt`: once it is over, nothing is changed, since the holders may have told more meanwhile. */
  async #changeOne(key: string, { apply, lifetime }: CounterChange, attempt: { readonly isOver: boolean }): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const [before, [seconds, micros]] = await this.#run<[string | null, [string, string]]>(READ, key)
      if (attempt.isOver) return
      const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
      const state = apply(parseState(before), now)
      if (state === undefined) return
      if ((await this.#run(COMPARE_AND_SET, key, before ?? '', JSON.stringify(state), String(lifetime))) === 1) return
      await delay(Math.random() * MAX_PAUSE_MS)
    }
    throw new CodedError('COUNTER_CONTENDED', 'the counter changes too often')
  }

  /** Runs a Lua script on one key. */
  #run<Reply>(script: string, key: string, ...args: readonly string[]): Promise<Reply> {
    return this.#connection.send(key, ['EVAL', script, '1', key, ...args]) as Promise<Reply>
  }
}
