import { hash } from 'node:crypto'
import { mkdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import type { ListSource, ListsConfig } from '../config/config.ts'
import { keptFile, versionOf } from '../config/kept-lists.ts'
import type { Threads } from '../limits/prices/list-data.ts'
import { checkBy, checkList, type ListChanges, type ListCheck } from '../limits/prices/list-update.ts'
import { RefusedList } from '../limits/prices/published-list.ts'
import type { Gauge } from '../observe/instruments.ts'
import type { Log } from '../observe/log.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { HostCounter } from '../sdk/api.ts'
import type { Connector } from '../upstream/client.ts'
import { type Document, getDocumentBy } from '../upstream/get-json.ts'

/** The largest list, in bytes: more than twice LiteLLM's of 2026-11. */
const MAX_BYTES = 8 << 20

/** How long a list may take to come, in milliseconds. */
const FETCH_MS = 60_000

/** The outcome of an update of one list. */
export interface ListUpdate {
  readonly source: ListSource['name']
  readonly from: string
  /** `refused`: the list cannot be believed. `failed`: it was not read, or cannot be kept. In both cases the last good one stays. */
  readonly result: 'updated' | 'unchanged' | 'refused' | 'failed'
  /** Of the list that is new. */
  readonly version?: string
  readonly changes?: ListChanges
  /** Why it was refused, or has failed. */
  readonly reason?: string
}

/** How lists are updated. */
export interface UpdateOptions {
  /** Opens connections, through a proxy where there is one. */
  readonly connect: Connector
  /** Whether prices may change by any factor. */
  readonly acceptChanges?: boolean
  readonly signal?: AbortSignal
  /** How lists are checked. Default: here, where nothing else waits. */
  readonly check?: ListCheck
}

/**
 * Reads the lists of a routes.yaml where they are published, checks them, and keeps those that are new and can be believed: gateways notice
 * their files. Never rejects for what a list or its server does.
 */
export async function updateLists({ folder, sources }: ListsConfig, options: UpdateOptions): Promise<readonly ListUpdate[]> {
  const { acceptChanges = false, check = checkList } = options
  const get = getDocumentBy(options.connect, MAX_BYTES)
  const updates: ListUpdate[] = []
  for (const source of sources) {
    const { name, from } = source
    const about = { source: name, from: withoutQuery(from) }
    try {
      const document = await fetchList(from, get, options.signal)
      updates.push({ ...about, ...(await keep(document, { source, folder, acceptChanges, check })) })
    } catch (error) {
      const result = error instanceof RefusedList ? 'refused' : 'failed'
      updates.push({ ...about, result, reason: (error as Error).message.replaceAll(from, about.from) })
    }
  }
  return updates
}

/** A query may hold a token. */
const withoutQuery = (from: string): string => (from.includes('://') ? from.replace(/\?.*$/s, '') : from)

async function fetchList(from: string, get: ReturnType<typeof getDocumentBy>, signal?: AbortSignal): Promise<Document> {
  if (from.includes('://')) {
    const limit = AbortSignal.timeout(FETCH_MS)
    return get(from, signal === undefined ? limit : AbortSignal.any([limit, signal]))
  }
  const { size, mtimeMs } = await stat(from)
  if (size > MAX_BYTES) throw new RefusedList(`it has ${size} bytes, more than ${MAX_BYTES}`)
  return { bytes: await readFile(from), modified: mtimeMs }
}

interface KeepOptions {
  readonly source: ListSource
  readonly folder: string
  readonly acceptChanges: boolean
  readonly check: ListCheck
}

async function keep(
  { bytes, modified }: Document,
  { source, folder, acceptChanges, check }: KeepOptions,
): Promise<Pick<ListUpdate, 'result' | 'version' | 'changes'>> {
  const { name, sha256 } = source
  const found = hash('sha256', bytes)
  if (sha256 !== undefined && found !== sha256) throw new RefusedList(`its SHA-256 is ${found}, and not the one in routes.yaml`)
  const file = keptFile(folder, name)
  const text = bytes.toString('utf8')
  const kept = await readFile(file, 'utf8').catch(() => undefined)
  const at = modified === undefined ? new Date() : new Date(modified)
  if (kept === text) {
    // Its time of change tells when it was last looked for.
    await utimes(file, new Date(), at)
    return { result: 'unchanged', version: versionOf(text) }
  }
  if (modified !== undefined && kept !== undefined && modified < Math.floor((await stat(file)).mtimeMs / 1000) * 1000)
    throw new RefusedList(`it is older: it was changed at ${at.toISOString()}`)
  const checked = await check({ source: name, text, kept, acceptChanges })
  if ('refused' in checked) throw new RefusedList(checked.refused)
  await mkdir(folder, { recursive: true })
  const temporary = `${file}.${process.pid}.tmp`
  await writeFile(temporary, bytes)
  await utimes(temporary, new Date(), at)
  await rename(temporary, file)
  return { result: 'updated', ...checked }
}

/** The most changes that a line of the log names. */
const MAX_LOGGED = 20

/** The options of `PriceUpdates`. */
export interface PriceUpdatesOptions {
  /** Those in use. */
  lists(): ListsConfig
  readonly connect: Connector
  readonly log: Log
  readonly metrics: Metrics
  readonly workers: Threads
}

/** Updates the lists by the schedule of routes.yaml, which has none by default. */
export class PriceUpdates {
  readonly #options: PriceUpdatesOptions
  readonly #count: HostCounter
  readonly #refused: Gauge
  /** The texts that stay in use because their successors were refused. */
  readonly #staying = new Map<ListSource['name'], string | undefined>()
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout
  #last = 0
  #running: Promise<void> | undefined

  constructor(options: PriceUpdatesOptions) {
    this.#options = options
    this.#count = options.metrics.declare(METRICS.priceUpdates)
    this.#refused = options.metrics.declare(METRICS.priceListRefused)
    this.#timer = setInterval(() => this.#check(), LOOK_MS).unref()
    this.#check()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#running
  }

  #check(): void {
    const lists = this.#options.lists()
    // An operator may have accepted another list meanwhile.
    for (const [source, text] of this.#staying) if (lists.kept[source] !== text) this.#setRefused(source, false)
    if (lists.every === undefined || this.#running !== undefined || Date.now() - this.#last < lists.every) return
    this.#running = this.#updateIfDue(lists, lists.every)
      .catch((err: unknown) => this.#options.log.error({ err }, 'list prices cannot be updated'))
      .finally(() => {
        this.#last = Date.now()
        this.#running = undefined
      })
  }

  /** Other gateways, and those before a restart, may have looked for the same lists. */
  async #updateIfDue(lists: ListsConfig, every: number): Promise<void> {
    const looks = await Promise.all(lists.sources.map(({ name }) => stat(keptFile(lists.folder, name)).catch(() => undefined)))
    if (this.#last === 0 && looks.every((look) => look !== undefined && Date.now() - look.ctimeMs < every)) return
    const { connect, workers } = this.#options
    for (const update of await updateLists(lists, { connect, signal: this.#closing.signal, check: checkBy(workers) }))
      if (!this.#closing.signal.aborted) this.#report(update)
  }

  #report({ result, changes, ...update }: ListUpdate): void {
    const { log } = this.#options
    this.#count.add(1, update.source, result)
    if (result !== 'failed') this.#setRefused(update.source, result === 'refused')
    if (result === 'unchanged') return
    if (result === 'updated') log.info({ ...update, ...(changes && shortened(changes)) }, 'list prices updated')
    else log.error(update, `list prices ${result === 'refused' ? 'refused' : 'not read'}: the last good ones stay in use`)
  }

  #setRefused(source: ListSource['name'], refused: boolean): void {
    this.#refused.set(refused ? 1 : 0, source)
    if (refused) this.#staying.set(source, this.#options.lists().kept[source])
    else this.#staying.delete(source)
  }
}

/** How often it is looked whether an update is due, in milliseconds. */
const LOOK_MS = 5_000

const shortened = ({ added, removed, changed }: ListChanges) => ({
  added: added.length,
  removed: removed.slice(0, MAX_LOGGED),
  changed: changed.slice(0, MAX_LOGGED),
  ...(changed.length > MAX_LOGGED && { changes: changed.length }),
})
