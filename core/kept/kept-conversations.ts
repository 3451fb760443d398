import { randomBytes } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import { newItemId } from '../protocol/responses/open-items.ts'
import { type HostCounter, isRecord, parseRecord, textOf } from '../sdk/api.ts'
import type { Holder, Keeping } from './keeping.ts'
import type { KeptResponsesServices } from './kept-responses.ts'
import type { SealedValues } from './sealed-values.ts'
import type { Item } from './turn.ts'
import { SPACES, type SpaceName } from './value-store.ts'

const SPACE = 'conversations' satisfies SpaceName

/** An item of a conversation. */
export interface ConversationItem {
  readonly id: string
  /** As it was sent, or as the model has made it. */
  readonly item: Item
}

/** A conversation with all that has happened to it. */
export interface Conversation {
  readonly id: string
  /** Unix seconds. */
  readonly createdAt: number
  readonly metadata: Item
  readonly items: readonly ConversationItem[]
  /** When it expires, in milliseconds since 1970. */
  readonly endsAt: number
  /** The changes so far, and the bytes of all. */
  readonly length: number
  readonly bytes: number
}

/** A change of a conversation: what is added to its log. */
type Change =
  | { readonly items: readonly ConversationItem[] }
  | { readonly metadata: Item }
  /** The id of an item. */
  | { readonly removed: string }

/** The first entry of a log. */
interface Beginning {
  readonly created_at: number
  readonly ends_at: number
  readonly metadata: Item
  readonly items: readonly ConversationItem[]
}

/** The most changes of a conversation, and the most bytes of its log. */
const MOST_CHANGES = 4096
const MOST_BYTES = 16 << 20

/** What is read of a log at most: changes that were made at the same time may have exceeded its bound. */
const READ_BYTES = 2 * MOST_BYTES

/** The changes that are read at once, at first and at most: twice as many each time. */
const FIRST_READ = 16
const MOST_READ = 256

/** By how much the rest of a log outlives its first entry, in milliseconds: without that it is no conversation. */
const GRACE_MS = 60_000

const ID = /^conv_[\w-]{22}$/

/** Whether the gateway may have made this id of a conversation. */
export const isConversationId = (id: unknown): id is string => typeof id === 'string' && ID.test(id)

/**
 * The conversations of an account. Each is a log, whose entries have numbers: who adds one takes the next number, and a number is taken once. So
 * calls that end at the same time each add all of their turn, in the order of their ends.
 */
export class KeptConversations {
  readonly #values: SealedValues
  readonly #uses: HostCounter

  private constructor(values: SealedValues, uses: HostCounter) {
    this.#values = values
    this.#uses = uses
  }

  /** Undefined if nothing of this account is kept. */
  static of(
    holder: Holder,
    keeping: Keeping | undefined,
    { values, keptUses }: KeptResponsesServices,
  ): KeptConversations | undefined {
    const sealed = keeping?.valuesOf(holder, SPACE, values)
    return sealed && new KeptConversations(sealed, keptUses)
  }

  /** Throws `GatewayError` (503) if it cannot be kept, as all methods do. */
  async create(metadata: Item, items: readonly Item[]): Promise<Conversation> {
    const id = `conv_${randomBytes(16).toString('base64url')}`
    const now = Date.now()
    const ttlMs = this.#values.ttlMs ?? SPACES[SPACE].ttlMs
    const beginning = { created_at: Math.floor(now / 1000), ends_at: now + ttlMs, metadata, items: withIds(items) }
    await this.#add(entryOf(id, 0), beginning, ttlMs)
    return {
      id,
      createdAt: beginning.created_at,
      metadata,
      items: beginning.items,
      endsAt: beginning.ends_at,
      length: 1,
      bytes: 0,
    }
  }

  /** Throws `GatewayError` (404) for one that is not kept, whether or not another account has it. */
  async get(id: string): Promise<Conversation> {
    const { log, bytes } = isConversationId(id) ? await this.#read(id) : NO_LOG
    const [first, ...changes] = log as unknown as [Beginning?, ...Change[]]
    if (first === undefined) throw new GatewayError('conversation_not_found', { values: { id: id.slice(0, 200) } })
    const items = new Map(first.items.map((each) => [each.id, each]))
    let { metadata } = first
    for (const change of changes) {
      if ('items' in change) for (const each of change.items) items.set(each.id, each)
      else if ('metadata' in change) metadata = change.metadata
      else items.delete(change.removed)
    }
    return {
      id,
      createdAt: first.created_at,
      metadata,
      items: [...items.values()],
      endsAt: first.ends_at,
      length: log.length,
      bytes,
    }
  }

  /** Adds items, after those that others add meanwhile. Resolves to them. */
  async append(conversation: Conversation, items: readonly Item[]): Promise<readonly ConversationItem[]> {
    const own = withIds(items)
    await this.#change(conversation, { items: own })
    return own
  }

  async update(conversation: Conversation, metadata: Item): Promise<Conversation> {
    await this.#change(conversation, { metadata })
    return { ...conversation, metadata }
  }

  /** Removes an item. */
  remove(conversation: Conversation, item: ConversationItem): Promise<void> {
    return this.#change(conversation, { removed: item.id })
  }

  /** Removes a conversation, of which nothing is left. */
  delete({ id, length }: Conversation): Promise<void> {
    return this.#values.delete(Array.from({ length }, (_, number) => entryOf(id, number))).catch(this.#unreachable)
  }

  /** Throws `GatewayError` (400) for a conversation that is full. */
  expectRoom({ length, bytes }: Conversation): void {
    if (length >= MOST_CHANGES || bytes > MOST_BYTES) throw full()
  }

  async #change(conversation: Conversation, change: Change): Promise<void> {
    const { id, length, endsAt } = conversation
    this.expectRoom(conversation)
    const ttlMs = Math.max(endsAt - Date.now(), 0) + GRACE_MS
    for (let number = length; number < MOST_CHANGES; number++) if (await this.#add(entryOf(id, number), change, ttlMs)) return
    throw full()
  }

  /** Resolves to whether it was added: not if the entry is taken. */
  async #add(entry: string, value: Change | Beginning, ttlMs: number): Promise<boolean> {
    const bytes = Buffer.from(JSON.stringify(value))
    const result = await this.#values.add(entry, bytes, ttlMs).catch(this.#unreachable)
    // A control process that was killed may have added it and not said so: its successor was asked again.
    if (result === 'taken') return (await this.#values.get([entry]).catch(this.#unreachable)).get(entry)?.equals(bytes) === true
    this.#uses.add(1, SPACE, result)
    if (result === 'too_large') throw full()
    if (result === 'full') throw new GatewayError('kept_responses_unavailable')
    return result === 'kept'
  }

  async #read(id: string): Promise<{ readonly log: readonly Item[]; readonly bytes: number }> {
    const log: Item[] = []
    let bytes = 0
    for (let most = FIRST_READ; ; most = Math.min(2 * most, MOST_READ)) {
      const wanted = Array.from({ length: most }, (_, index) => entryOf(id, log.length + index))
      const found = await this.#values.get(wanted).catch(this.#unreachable)
      for (const entry of wanted) {
        const value = found.get(entry)
        const change = value && parseRecord(value.toString())
        if (change === undefined) return { log, bytes }
        bytes += value!.length
        log.push(change)
        if (log.length >= MOST_CHANGES || bytes > READ_BYTES) return { log, bytes }
      }
    }
  }

  readonly #unreachable = (cause: unknown): never => {
    this.#uses.add(1, SPACE, 'unavailable')
    throw new GatewayError('kept_responses_unavailable', { cause })
  }
}

const full = (): GatewayError =>
  new GatewayError('invalid_value', {
    param: 'conversation',
    values: { detail: 'the conversation is full; begin another one, with the items that are still needed' },
  })

const NO_LOG = { log: [], bytes: 0 }

const entryOf = (id: string, number: number): string => `${id} ${number}`

/** Each item with its own id, or a new one. */
const withIds = (items: readonly Item[]): readonly ConversationItem[] =>
  items.map((item) => ({ id: textOf(item.id) || newItemId(PREFIXES.get(textOf(item.type)) ?? 'item'), item }))

/** How ids of items begin (openai-node 7.55, `ResponseItem`). */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['', 'msg'],
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
  ['compaction', 'cmp'],
])

/** An item as clients read it. */
export const shownItem = ({ id, item }: ConversationItem): Item => {
  const type = item.type ?? 'message'
  if (type !== 'message') return { ...item, type, id }
  const isModel = item.role === 'assistant'
  const { content } = item
  const parts =
    typeof content === 'string'
      ? [isModel ? { type: 'output_text', text: content, annotations: [] } : { type: 'input_text', text: content }]
      : content
  return { status: 'completed', ...item, type, id, content: parts }
}

/** The `conversation` of a request: its id. Undefined if it has none. */
export const conversationIn = (member: unknown): string | undefined => {
  const id = isRecord(member) ? member.id : member
  return typeof id === 'string' ? id : undefined
}
