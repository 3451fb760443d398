import { hash } from 'node:crypto'
import type { RedisConnection } from '../store/redis-connection.ts'
import { type Bounds, type Entry, nameOf, type Place, type Space, sizeOf, type ValueStorage } from './value-store.ts'

/** Of all keys of values. */
const PREFIX = 'umg:kept:'

/** What each place has, as it was when it was written to: a hash of `entries bytes expiry`, by the names of places. */
const SIZES = `${PREFIX}sizes`

/**
 * The three keys of a place: its values, when each expires, and the sizes of each. They share a slot of a cluster. `now`: by the clock of the
 * server, which all gateways share.
 */
const PLACE = `
local values, ends, sizes = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function drop(key)
  redis.call('HDEL', values, key)
  redis.call('ZREM', ends, key)
  local size = redis.call('HGET', sizes, key)
  if size then
    redis.call('HDEL', sizes, key)
    redis.call('HINCRBY', sizes, '', -size)
  end
end`

const GET = `${PLACE}
local found = {}
for index, key in ipairs(ARGV) do
  local ends_at = redis.call('ZSCORE', ends, key)
  found[index] = ends_at and tonumber(ends_at) > now and redis.call('HGET', values, key) or false
end
return found`

/** Expired values are removed a thousand at a time, so that no call waits for more. */
const WRITE = `
for _, key in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, 1000)) do drop(key) end
for index = 4, #ARGV, 3 do
  local key, value, size = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  drop(key)
  redis.call('HSET', values, key, value)
  redis.call('HSET', sizes, key, size)
  redis.call('HINCRBY', sizes, '', size)
  redis.call('ZADD', ends, now + ARGV[1], key)
end
while redis.call('ZCARD', ends) > tonumber(ARGV[2]) or tonumber(redis.call('HGET', sizes, '') or 0) > tonumber(ARGV[3]) do
  local first = redis.call('ZRANGE', ends, 0, 0)
  if not first[1] then break end
  drop(first[1])
end
local last = redis.call('ZRANGE', ends, -1, -1, 'WITHSCORES')[2] or now
for _, key in ipairs(KEYS) do redis.call('PEXPIREAT', key, string.format('%.0f', last)) end
return {redis.call('ZCARD', ends), tonumber(redis.call('HGET', sizes, '') or 0), string.format('%.0f', last)}`

const PUT = `${PLACE}${WRITE}`

const ADD = `${PLACE}
local ends_at = redis.call('ZSCORE', ends, ARGV[4])
if ends_at and tonumber(ends_at) > now then return false end
${WRITE}`

const DELETE = `${PLACE}
for _, key in ipairs(ARGV) do drop(key) end
return 1`

/** Values in Redis or Valkey, which all gateways on it share. */
export class RedisValues implements ValueStorage {
  readonly #connection: RedisConnection

  /** `connection`: closed by its owner. */
  constructor(connection: RedisConnection) {
    this.#connection = connection
  }

  async get(place: Place, keys: readonly string[]): Promise<readonly Entry[]> {
    const values = (await this.#run(GET, place, keys)) as readonly (string | null)[]
    return keys.flatMap((key, index): readonly Entry[] => (values[index] == null ? [] : [[key, values[index]]]))
  }

  async put(place: Place, entries: readonly Entry[], space: Space): Promise<void> {
    await this.#write(PUT, place, entries, space)
  }

  add(place: Place, entry: Entry, space: Space): Promise<boolean> {
    return this.#write(ADD, place, [entry], space)
  }

  async delete(place: Place, keys: readonly string[]): Promise<void> {
    await this.#run(DELETE, place, keys)
  }

  /** Redis itself removes what has expired. */
  async sweep(): Promise<ReadonlyMap<string, Bounds>> {
    const places = (await this.#connection.send(SIZES, ['HGETALL', SIZES])) as readonly string[] | Record<string, string>
    const pairs = Array.isArray(places) ? pairsOf(places) : Object.entries(places as Record<string, string>)
    const sums = new Map<string, { entries: number; bytes: number }>()
    const ended: string[] = []
    for (const [name, size] of pairs) {
      const [entries = 0, bytes = 0, end = 0] = size.split(' ').map(Number)
      if (end <= Date.now()) ended.push(name)
      else {
        const space = name.slice(0, name.indexOf(' '))
        const sum = sums.get(space) ?? { entries: 0, bytes: 0 }
        sums.set(space, { entries: sum.entries + entries, bytes: sum.bytes + bytes })
      }
    }
    if (ended.length > 0) await this.#connection.send(SIZES, ['HDEL', SIZES, ...ended])
    return sums
  }

  async close(): Promise<void> {}

  /** Resolves to whether the script has written. */
  async #write(script: string, place: Place, entries: readonly Entry[], { ttlMs, account }: Space): Promise<boolean> {
    const args = entries.flatMap((entry) => [...entry, String(sizeOf(entry))])
    const size = await this.#run(script, place, [ttlMs, account.entries, account.bytes, ...args].map(String))
    if (size === null) return false
    await this.#connection.send(SIZES, ['HSET', SIZES, nameOf(place), (size as readonly (string | number)[]).join(' ')])
    return true
  }

  /** Runs a Lua script on the keys of a place. */
  #run(script: string, place: Place, args: readonly string[]): Promise<unknown> {
    const slot = `${PREFIX}{${hash('sha256', nameOf(place), 'base64url')}}`
    const keys = [`${slot}:values`, `${slot}:ends`, `${slot}:sizes`] as const
    return this.#connection.send(keys[0], ['EVAL', script, '3', ...keys, ...args])
  }
}

/** A list of names and values by turns. */
const pairsOf = (list: readonly string[]): (readonly [string, string])[] =>
  Array.from({ length: list.length / 2 }, (_, index) => [list[2 * index]!, list[2 * index + 1]!])
