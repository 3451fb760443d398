import type { Store } from '../store/database.ts'
import { type Bounds, type Entry, nameOf, type Place, type Space, sizeOf, type ValueStorage } from './value-store.ts'

/** Rows of one statement: SQLite takes 32,766 values. */
const ROWS = 500

/** Expired rows of one statement. */
const PURGED = 200

/** How long a count of what an account has is used, in milliseconds: other gateways add to it. */
const COUNT_MS = 60_000

/** What is left of a place that has more than it may, in parts of that: not each of many puts removes something. */
const LEFT = 0.9

/** What a place has at most, as far as this process knows. */
interface Count {
  entries: number
  bytes: number
  readonly until: number
}

const rowOf = (place: Place, [key, value]: Entry, expires_at: number) => ({
  ...place,
  key,
  value,
  size: sizeOf([key, value]),
  expires_at,
})

/** Values in the database, which all gateways on it share. `clock`: milliseconds since 1970. */
export class DatabaseValues implements ValueStorage {
  readonly #store: Pick<Store, 'db' | 'read'>
  readonly #clock: () => number
  /** Of the places that were written to within the last minute. */
  readonly #counts = new Map<string, Count>()

  constructor(store: Pick<Store, 'db' | 'read'>, clock: () => number = Date.now) {
    this.#store = store
    this.#clock = clock
  }

  async get({ space, account }: Place, keys: readonly string[]): Promise<readonly Entry[]> {
    const found: Entry[] = []
    for (let from = 0; from < keys.length; from += ROWS) {
      const rows = await this.#store.db
        .selectFrom('kept_values')
        .select(['key', 'value'])
        .where('space', '=', space)
        .where('account', '=', account)
        .where('key', 'in', keys.slice(from, from + ROWS))
        .where('expires_at', '>', this.#clock())
        .execute()
      for (const { key, value } of rows) found.push([key, value])
    }
    return found
  }

  async put(place: Place, entries: readonly Entry[], space: Space): Promise<void> {
    const expires_at = this.#clock() + space.ttlMs
    const rows = entries.map((entry) => rowOf(place, entry, expires_at))
    for (let from = 0; from < rows.length; from += ROWS) {
      await this.#store.db
        .insertInto('kept_values')
        .values(rows.slice(from, from + ROWS))
        .onConflict((conflict) =>
          conflict.columns(['space', 'account', 'key']).doUpdateSet(({ ref }) => ({
            value: ref('excluded.value'),
            size: ref('excluded.size'),
            expires_at: ref('excluded.expires_at'),
          })),
        )
        .execute()
    }
    await this.#added(place, rows, space)
  }

  async add(place: Place, entry: Entry, space: Space): Promise<boolean> {
    const row = rowOf(place, entry, this.#clock() + space.ttlMs)
    const { numInsertedOrUpdatedRows: added } = await this.#store.db
      .insertInto('kept_values')
      .values(row)
      .onConflict((conflict) => conflict.columns(['space', 'account', 'key']).doNothing())
      .executeTakeFirstOrThrow()
    if (added !== 1n) return false
    await this.#added(place, [row], space)
    return true
  }

  async delete({ space, account }: Place, keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += ROWS) {
      await this.#store.db
        .deleteFrom('kept_values')
        .where('space', '=', space)
        .where('account', '=', account)
        .where('key', 'in', keys.slice(from, from + ROWS))
        .execute()
    }
  }

  async sweep(): Promise<ReadonlyMap<string, Bounds>> {
    const now = this.#clock()
    for (const [name, { until }] of this.#counts) if (until <= now) this.#counts.delete(name)
    let purged: number
    do purged = await this.#purge(now)
    while (purged === PURGED)
    const { fn } = this.#store.db
    const rows = await this.#store.read<{ space: string; entries: unknown; bytes: unknown }>(
      this.#store.db
        .selectFrom('kept_values')
        .select(['space', fn.countAll().as('entries'), fn.sum('size').as('bytes')])
        .groupBy('space'),
    )
    return new Map(rows.map(({ space, entries, bytes }) => [space, { entries: Number(entries), bytes: Number(bytes) }]))
  }

  async close(): Promise<void> {}

  async #added(place: Place, rows: readonly { readonly size: number }[], { account }: Space): Promise<void> {
    const added = { entries: rows.length, bytes: rows.reduce((sum, { size }) => sum + size, 0) }
    if (this.#exceeds(place, added, account)) await this.#shrink(place, account)
  }

  /** Removes some of what has expired, so that other changes need not wait for all of it. Resolves to how many. */
  async #purge(now: number): Promise<number> {
    const { numDeletedRows } = await this.#store.db
      .deleteFrom('kept_values')
      .where(({ eb, refTuple, selectFrom }) => {
        const expired = selectFrom('kept_values').select(['space', 'account', 'key']).where('expires_at', '<=', now).limit(PURGED)
        return eb(refTuple('space', 'account', 'key'), 'in', expired.$asTuple('space', 'account', 'key'))
      })
      .executeTakeFirst()
    return Number(numDeletedRows)
  }

  /** Whether a place may have more than its bounds. A place whose count is not known may. */
  #exceeds(place: Place, added: Bounds, { entries, bytes }: Bounds): boolean {
    const count = this.#counts.get(nameOf(place))
    if (count === undefined || count.until <= this.#clock()) return true
    count.entries += added.entries
    count.bytes += added.bytes
    return count.entries > entries || count.bytes > bytes
  }

  /** Removes the values that expire first, of a place that has too much, and notes what it has. */
  async #shrink({ space, account }: Place, { entries: most, bytes: mostBytes }: Bounds): Promise<void> {
    const rows = await this.#store.read<{ size: number; expires_at: unknown }>(
      this.#store.db
        .selectFrom('kept_values')
        .select(['size', 'expires_at'])
        .where('space', '=', space)
        .where('account', '=', account)
        .orderBy('expires_at', 'desc'),
    )
    const whole = { entries: rows.length, bytes: rows.reduce((sum, { size }) => sum + size, 0) }
    const isOver = whole.entries > most || whole.bytes > mostBytes
    const left = { entries: 0, bytes: 0 }
    for (const { size, expires_at } of rows) {
      if (isOver && (left.entries + 1 > most * LEFT || left.bytes + size > mostBytes * LEFT)) {
        await this.#store.db
          .deleteFrom('kept_values')
          .where('space', '=', space)
          .where('account', '=', account)
          .where('expires_at', '<=', Number(expires_at))
          .execute()
        break
      }
      left.entries++
      left.bytes += size
    }
    this.#counts.set(nameOf({ space, account }), { ...left, until: this.#clock() + COUNT_MS })
  }
}
