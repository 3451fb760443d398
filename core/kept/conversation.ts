import { withTimeout } from '../async/timeout.ts'
import { GatewayError } from '../errors.ts'
import type { JsonBody } from '../protocol/json-body.ts'
import { unsealed } from '../protocol/kept-ids.ts'
import { isReferenceItem, keptIds } from '../protocol/kept-references.ts'
import type { KeptReply } from '../protocol/kept-reply.ts'
import { newResponseId, responseOfItem } from '../protocol/responses/own-ids.ts'
import { parseRecord } from '../sdk/api.ts'
import { unsupportedParameter } from '../sdk/parameters.ts'
import { BackgroundReply } from './background-reply.ts'
import { type Conversation, conversationIn, isConversationId, type KeptConversations } from './kept-conversations.ts'
import type { KeptResponses, NewTurn } from './kept-responses.ts'
import { type Item, inputItems, itemsById, itemsOf, type KeptTurn, listedInput, outputOf } from './turn.ts'

/** A call of `/v1/responses` as it is served. */
export interface Continued {
  /** The members to replace, or by `undefined` to remove: what the call refers to stands in its `input`. */
  readonly changes: Readonly<Record<string, unknown>>
  /** Absent: the client wants nothing kept, or an upstream keeps the conversation. */
  readonly kept: KeptReply | undefined
}

/** What the gateway keeps for the account of a call. */
export interface Continuing {
  readonly responses: KeptResponses
  readonly conversations: KeptConversations
  /** Whether it keeps the reply too. */
  readonly keepsReplies: boolean
}

/** The conversation that a call names; undefined if it names none of the gateway's. Throws `GatewayError` (400, 404). */
async function conversationOf(sent: JsonBody, conversations: KeptConversations): Promise<Conversation | undefined> {
  const id = conversationIn(sent.member('conversation'))
  if (!isConversationId(id)) return undefined
  if (sent.member('previous_response_id') != null) {
    const detail = 'a call goes on with a `conversation` or from a response, and not both'
    throw new GatewayError('invalid_value', { param: 'previous_response_id', values: { detail } })
  }
  const conversation = await conversations.get(id)
  conversations.expectRoom(conversation)
  return conversation
}

/** The most responses that a conversation goes on from. */
const MAX_CHAIN = 1000

/** The most bytes of a call's own input of which the reply is kept. */
const MAX_INPUT = 4 << 20

/**
 * Puts what a call refers to in its place, so that all that follows sees the whole conversation. What has the seal of an upstream stays, and so do
 * references to items that are not found: `checkKept` refuses them. Throws `GatewayError` (400) for a response that is not found.
 */
export async function continued(sent: JsonBody, { responses, conversations, keepsReplies }: Continuing): Promise<Continued> {
  const chain: string[] = []
  const changes: Record<string, unknown> = {}
  const conversation = await conversationOf(sent, conversations)
  const before = conversation?.items.map(({ item }) => item) ?? []
  if (conversation !== undefined) changes.conversation = undefined
  let isOurs = conversation !== undefined || sent.member('conversation') == null
  if (keptIds(sent.guarded).length > 0) {
    const previous = sent.member('previous_response_id') ?? undefined
    const own = inputItems(sent.member('input'))
    const turns = new Turns(responses)
    if (typeof previous === 'string' && unsealed(previous) === undefined) {
      chain.push(...(await turns.chainTo(previous)))
      changes.previous_response_id = undefined
    } else isOurs &&= previous === undefined
    const items = await turns.resolved([...before, ...chain.flatMap((id) => itemsOf(turns.known.get(id)!)), ...own])
    isOurs &&= !items.some(isReferenceItem)
    if (chain.length > 0 || items.some((item, index) => item !== own[index])) changes.input = items
  } else if (before.length > 0) changes.input = [...before, ...inputItems(sent.member('input'))]
  if (!keepsReplies) return { changes, kept: undefined }
  const isWanted = sent.member('store') !== false
  const isBackground = sent.member('background') === true
  if (isBackground && !isWanted) throw notInBackground('A background response is kept: leave `store: false` out.')
  if (isBackground && !isOurs)
    throw notInBackground('An upstream keeps this conversation: leave `background` out, and ask for a stream.')
  if (!isOurs || !(isWanted || conversation !== undefined)) return { changes, kept: undefined }
  const input = sent.text('input') ?? 'null'
  if (isBackground && input.length > MAX_INPUT) throw notInBackground('The input is too long to be kept.')
  // The reply says so.
  if (input.length > MAX_INPUT && conversation === undefined) return { changes: { ...changes, store: false }, kept: undefined }
  if (sent.member('store') === true) changes.store = undefined
  const id = newResponseId()
  const turn = { chain, input }
  const joined = conversation && new JoinedConversation(conversation, conversations, inputItems(sent.member('input')))
  if (isBackground)
    return { changes: { ...changes, background: undefined }, kept: new BackgroundReply(id, turn, responses, joined) }
  const isStored = isWanted && input.length <= MAX_INPUT
  return { changes, kept: new DirectReply(id, turn, isStored ? responses : undefined, joined) }
}

/** How long a reply waits until its conversation has it, in milliseconds. */
const WRITE_MS = 5000

/** The conversation that a call goes on with, which gets the items of its input and of its reply. */
class JoinedConversation {
  readonly id: string
  readonly #conversation: Conversation
  readonly #conversations: KeptConversations
  /** What the call has added. Its body is released before the last byte of a reply. */
  readonly #input: readonly Item[]

  constructor(conversation: Conversation, conversations: KeptConversations, input: readonly Item[]) {
    this.id = conversation.id
    this.#conversation = conversation
    this.#conversations = conversations
    this.#input = input
  }

  /** Adds the turn of a complete response, a JSON text. Never rejects: the answer is paid for, and its client gets it, kept or not. */
  add(response: string): Promise<unknown> {
    const output = inputItems(parseRecord(response)?.output)
    const added = this.#conversations.append(this.#conversation, [...this.#input, ...output])
    return withTimeout(WRITE_MS, added).catch(() => undefined)
  }
}

/** The reply to a call whose client waits for it. */
class DirectReply implements KeptReply {
  readonly id: string
  readonly previous: string | null
  readonly conversation: string | undefined
  readonly isStored: boolean
  readonly isBackground = false
  readonly #turn: Pick<NewTurn, 'chain' | 'input'>
  readonly #responses: KeptResponses | undefined
  readonly #joined: JoinedConversation | undefined
  written: Promise<unknown> | undefined

  /** `responses`: absent if only its conversation gets it. */
  constructor(
    id: string,
    turn: Pick<NewTurn, 'chain' | 'input'>,
    responses: KeptResponses | undefined,
    joined: JoinedConversation | undefined,
  ) {
    this.id = id
    this.previous = turn.chain.at(-1) ?? null
    this.conversation = joined?.id
    this.isStored = responses !== undefined
    this.#turn = turn
    this.#responses = responses
    this.#joined = joined
  }

  complete(response: string): void {
    this.#responses?.keep(this.id, { ...this.#turn, response })
    this.written = this.#joined?.add(response)
  }
}

/**
 * The items that the model got with the call of a response, the oldest first. Throws `GatewayError` (400) if a response that it goes on from is not
 * kept any more.
 */
export async function conversationTo(id: string, responses: KeptResponses): Promise<readonly Item[]> {
  const turns = new Turns(responses)
  const chain = await turns.chainTo(id)
  const items = chain.flatMap((each) => {
    const turn = turns.known.get(each)!
    return each === id ? listedInput(turn, each) : [...listedInput(turn, each), ...outputOf(turn)]
  })
  return turns.resolved(items)
}

const notInBackground = (hint: string): GatewayError => unsupportedParameter('background', hint)

/** The turns that a call refers to. */
class Turns {
  readonly #responses: KeptResponses
  readonly known = new Map<string, KeptTurn>()
  /** The items of the turns to which items refer, by the ids of their responses. */
  readonly #items = new Map<string, ReturnType<typeof itemsById>>()

  constructor(responses: KeptResponses) {
    this.#responses = responses
  }

  /** The ids of a response and of those that it goes on from, the oldest first; all of them are known then. */
  async chainTo(id: string): Promise<readonly string[]> {
    await this.#load([id])
    const chain = [...(this.known.get(id)?.chain ?? []), id]
    if (chain.length > MAX_CHAIN) {
      const detail = `it goes on from more than ${MAX_CHAIN} responses; send all of the conversation as \`input\``
      throw new GatewayError('invalid_value', { param: 'previous_response_id', values: { detail } })
    }
    await this.#load(chain)
    const missing = chain.toReversed().find((each) => !this.known.has(each))
    if (missing === undefined) return chain
    throw new GatewayError('previous_response_not_found', {
      param: 'previous_response_id',
      values: { id: missing.slice(0, 200) },
    })
  }

  /** The items, in place of references to them. What only its upstream could look up is left out, and so is what stands there already. */
  async resolved(items: readonly Item[]): Promise<readonly Item[]> {
    await this.#load(items.filter(isReferenceItem).flatMap(({ id }) => responseOfItem(id) ?? []))
    const ids = new Set<unknown>()
    return items.flatMap((item) => {
      const found = isReferenceItem(item) ? this.#find(item.id) : undefined
      const own = found ?? item
      if (found !== undefined && (isReferenceItem(found) || ids.has(found.id) || ids.has(item.id))) return []
      ids.add(item.id)
      if (own.id !== undefined) ids.add(own.id)
      return [own]
    })
  }

  #find(id: unknown): Item | undefined {
    const response = responseOfItem(id)
    const turn = response === undefined ? undefined : this.known.get(response)
    if (turn === undefined) return undefined
    const items = this.#items.get(response!) ?? itemsById(turn, response!)
    this.#items.set(response!, items)
    return items.get(id)
  }

  async #load(ids: readonly string[]): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.known.has(id))
    for (const [id, turn] of await this.#responses.get(unknown)) this.known.set(id, turn)
  }
}
