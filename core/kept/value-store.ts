/** How much may be kept. */
export interface Bounds {
  readonly entries: number
  /** Of keys and values. */
  readonly bytes: number
}

/** A kind of values, with what it may take of the store. */
export interface Space {
  /** How long a value is kept, in milliseconds, unless `put` says otherwise. */
  readonly ttlMs: number
  /** The most bytes of one value. */
  readonly value: number
  /** Of each account: the values that expire first make room for new ones. */
  readonly account: Bounds
  /** Of all accounts together: beyond it nothing is kept, so that no account takes the room of another. */
  readonly total: Bounds
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MIB = 1 << 20

/** The kinds of values that a gateway keeps. */
export const SPACES = {
  /** What upstreams want back with the results of tool calls, for clients that do not keep it: docs/decisions/kept-values.md. */
  'call-states': {
    ttlMs: 4 * HOUR_MS,
    value: MIB,
    account: { entries: 20_000, bytes: 64 * MIB },
    total: { entries: 200_000, bytes: 512 * MIB },
  },
  /** The turns of `/v1/responses`, sealed with the operator's key: docs/decisions/kept-responses.md. */
  responses: {
    ttlMs: 30 * DAY_MS,
    value: 8 * MIB,
    account: { entries: 50_000, bytes: 512 * MIB },
    total: { entries: 500_000, bytes: 8192 * MIB },
  },
  /** The conversations of `/v1/conversations`, as logs of changes: docs/decisions/kept-conversations.md. */
  conversations: {
    ttlMs: 30 * DAY_MS,
    value: 8 * MIB,
    account: { entries: 100_000, bytes: 512 * MIB },
    total: { entries: 500_000, bytes: 8192 * MIB },
  },
  /** What is known of background responses until they have ended, and their events: docs/decisions/background-responses.md. */
  background: {
    ttlMs: DAY_MS,
    value: 8 * MIB,
    account: { entries: 50_000, bytes: 256 * MIB },
    total: { entries: 500_000, bytes: 2048 * MIB },
  },
} as const satisfies Readonly<Record<string, Space>>

/** The name of a kind of values. */
export type SpaceName = keyof typeof SPACES

/** Where values are: those of an account, in a space. No other account can reach them. */
export interface Place {
  readonly space: SpaceName
  readonly account: string
}

/** A value and its key, which is unique in its place. A key has at most 200 characters, and neither has a NUL, which PostgreSQL refuses. */
export type Entry = readonly [key: string, value: string]

/** What came of entries to keep: nothing of them is kept if the store is full, or if one of them is too large. */
export type Kept = 'kept' | 'full' | 'too_large'

/** What came of an entry to add. `taken`: its key has another value. */
export type Added = Kept | 'taken'

/**
 * Keeps values for a while, for all processes and gateways that share a database or a Redis server. A value may be lost at any time: the store is
 * bounded, and nothing is kept beyond its time. All methods reject if the store cannot be reached.
 */
export interface ValueStore {
  /** The values of those keys that are kept. */
  get(place: Place, keys: readonly string[]): Promise<readonly Entry[]>
  /** Keeps entries, in place of earlier ones of the same keys. Resolves when all processes can get them. `ttlMs`: default: that of the space. */
  put(place: Place, entries: readonly Entry[], ttlMs?: number): Promise<Kept>
  /** Keeps an entry unless there is one of its key: of several that add it, in any process, one succeeds. */
  add(place: Place, entry: Entry, ttlMs?: number): Promise<Added>
  /** Removes values. */
  delete(place: Place, keys: readonly string[]): Promise<void>
}

/** Keeps nothing, for processes that serve no calls. */
export const NO_VALUES: ValueStore = {
  get: async () => [],
  put: async () => 'full',
  add: async () => 'full',
  delete: async () => undefined,
}

/** Where a `StoredValues` has its values: a database or Redis. All methods reject if it cannot be reached. */
export interface ValueStorage {
  get(place: Place, keys: readonly string[]): Promise<readonly Entry[]>
  /** Keeps entries until their time is over, and no more of their place than its space allows. */
  put(place: Place, entries: readonly Entry[], space: Space): Promise<void>
  /** The same of one entry, unless there is one of its key. Resolves to whether it was added. */
  add(place: Place, entry: Entry, space: Space): Promise<boolean>
  delete(place: Place, keys: readonly string[]): Promise<void>
  /** Removes what has expired. Resolves to what is left, by the names of spaces. */
  sweep(): Promise<ReadonlyMap<string, Bounds>>
  close(): Promise<void>
}

/** What a row of a key and its index take in addition to key and value, about, in bytes. */
const ENTRY_BYTES = 200

/** The bytes that an entry counts. */
export const sizeOf = ([key, value]: Entry): number => Buffer.byteLength(key) + Buffer.byteLength(value) + ENTRY_BYTES

/** A place as a text. */
export const nameOf = ({ space, account }: Place): string => `${space} ${account}`
