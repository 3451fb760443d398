import type { ChatDelta, ToolCallDelta } from '../sdk/api.ts'
import { isRecord, parseRecord, textOf } from '../sdk/json.ts'
import { KeptText } from '../sdk/translated.ts'

/** The names under which upstreams write and expect reasoning. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const

/** One of the names of reasoning. */
export type ReasoningField = (typeof REASONING_FIELDS)[number]

/** What a vendor keeps of its reasoning beside the text: an entry of `reasoning_details`. */
export type ReasoningDetail = Readonly<Record<string, unknown>>

/** Who made a state. */
export interface StateOwner {
  /** `Provider.stateOwner`. */
  readonly name: string
  /** The upstream's name of the model. */
  readonly model: string
}

/**
 * What an upstream needs back with the next turn. Clients keep it unread: of the Messages API as the signature of a thinking block or the
 * data of a redacted one, of the Responses API as the `encrypted_content` of a reasoning item.
 */
export interface UpstreamState {
  /** Absent: its provider has written its own name into `extra`. */
  readonly owner?: StateOwner
  /** The member of the message that had the reasoning. */
  readonly field?: ReasoningField
  readonly details?: readonly ReasoningDetail[]
  /** The `extra_content` of a tool call. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Which call of the turn that is, from 0. Absent: the one that follows. */
  readonly call?: number
}

/** Begins each state; Anthropic's signatures and OpenAI's encrypted contents are base64, which has no dot. */
export const STATE_PREFIX = 'umg1.'

/** A state as a text. */
export const writeState = (state: UpstreamState): string =>
  STATE_PREFIX + Buffer.from(JSON.stringify(state)).toString('base64url')

/** The state in a text; undefined for the signature of a vendor. */
export function readState(text: unknown): UpstreamState | undefined {
  if (typeof text !== 'string' || !text.startsWith(STATE_PREFIX)) return undefined
  const { owner, field, details, extra, call } =
    parseRecord(Buffer.from(text.slice(STATE_PREFIX.length), 'base64url').toString()) ?? {}
  const known = REASONING_FIELDS.find((name) => name === field)
  return {
    ...(isRecord(owner) && { owner: { name: textOf(owner.name), model: textOf(owner.model) } }),
    ...(known && { field: known }),
    ...(Array.isArray(details) && { details: details.filter(isRecord) }),
    ...(isRecord(extra) && { extra }),
    ...(Number.isSafeInteger(call) && { call: call as number }),
  }
}

/** What a reply has so far that its upstream needs back and that no state holds yet. */
export class ReplyState {
  readonly #owner: StateOwner | undefined
  readonly #kept = new KeptText()
  #details: ReasoningDetail[] = []
  readonly #extras = new Map<number, Readonly<Record<string, unknown>>>()

  /** `owner`: undefined for a provider that writes its own name into `extra_content`. */
  constructor(owner: StateOwner | undefined) {
    this.#owner = owner
  }

  /** Reads a delta, or a whole message whose calls have an index. */
  read({
    reasoning_details: details,
    tool_calls: calls,
  }: Readonly<Record<string, unknown>> & Pick<ChatDelta, 'tool_calls'>): void {
    if (this.#owner !== undefined && Array.isArray(details)) for (const each of details) if (isRecord(each)) this.#add(each)
    if (Array.isArray(calls)) for (const call of calls) if (isRecord(call.extra_content)) this.#addExtra(call, call.extra_content)
  }

  /** The state of thinking that ends. */
  ofThoughts(field: ReasoningField): UpstreamState {
    return this.#owner === undefined ? {} : { owner: this.#owner, field, ...this.#takeDetails() }
  }

  /** The state that stands before a tool call, by its number in the reply; undefined if there is none. */
  before(call: number): UpstreamState | undefined {
    const extra = this.#extras.get(call)
    this.#extras.delete(call)
    if (extra === undefined && this.#details.length === 0) return undefined
    return { ...(this.#owner && { owner: this.#owner }), ...this.#takeDetails(), ...(extra && { extra }) }
  }

  /** What came too late to stand before its call. */
  *rest(): Generator<UpstreamState> {
    const owner = this.#owner && { owner: this.#owner }
    if (this.#details.length > 0) yield { ...owner, ...this.#takeDetails() }
    for (const [call, extra] of this.#extras) yield { ...owner, extra, call }
    this.#extras.clear()
  }

  #takeDetails(): Pick<UpstreamState, 'details'> {
    const details = this.#details
    this.#details = []
    return details.length > 0 ? { details } : {}
  }

  #add(detail: ReasoningDetail): void {
    this.#kept.add(JSON.stringify(detail))
    addDetail(this.#details, detail)
  }

  #addExtra({ index = 0 }: Pick<ToolCallDelta, 'index'>, extra: Readonly<Record<string, unknown>>): void {
    this.#kept.add(JSON.stringify(extra))
    this.#extras.set(index, { ...this.#extras.get(index), ...extra })
  }
}

/** Members of a detail that hold its text, which a stream sends in pieces. */
const TEXTS = ['text', 'summary'] as const

/** The details of a turn as they stand in a whole reply. */
export function joinDetails(pieces: readonly ReasoningDetail[]): readonly ReasoningDetail[] {
  const details: ReasoningDetail[] = []
  for (const piece of pieces) addDetail(details, piece)
  return details
}

/**
 * Adds a piece of a stream: consecutive pieces of an entry become one (`reasoning_details` in @openrouter/ai-sdk-provider, read 2026-11-25).
 * Encrypted entries come whole, and an entry without an index is whole too.
 */
function addDetail(details: ReasoningDetail[], piece: ReasoningDetail): void {
  const last = details.at(-1)
  const { type, index } = piece
  const isNext = type !== last?.type || index !== last?.index || !Number.isSafeInteger(index) || type === 'reasoning.encrypted'
  if (last === undefined || isNext) {
    details.push(piece)
    return
  }
  const told = Object.entries(piece).filter(([, value]) => value != null)
  const texts = TEXTS.filter((name) => piece[name] != null).map((name) => [name, textOf(last[name]) + textOf(piece[name])])
  details[details.length - 1] = { ...last, ...Object.fromEntries(told), ...Object.fromEntries(texts) }
}
