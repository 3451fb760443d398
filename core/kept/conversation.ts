import { GatewayError } from '../errors.ts'
import type { JsonBody } from '../protocol/json-body.ts'
import { unsealed } from '../protocol/kept-ids.ts'
import { isReferenceItem, keptIds } from '../protocol/kept-references.ts'
import type { KeptReply } from '../protocol/kept-reply.ts'
import { newResponseId, responseOfItem } from '../protocol/responses/own-ids.ts'
import { unsupportedParameter } from '../sdk/parameters.ts'
import { BackgroundReply } from './background-reply.ts'
import type { KeptResponses } from './kept-responses.ts'
import { type Item, inputItems, itemOf, itemsOf, type KeptTurn, listedInput, outputOf } from './turn.ts'

/** A call of `/v1/responses` as it is served. */
export interface Continued {
  /** The members to replace, or by `undefined` to remove: what the call refers to stands in its `input`. */
  readonly changes: Readonly<Record<string, unknown>>
  /** Absent: the client wants nothing kept, or an upstream keeps the conversation. */
  readonly kept: KeptReply | undefined
}

/** The most responses that a conversation goes on from. */
const MAX_CHAIN = 1000

/** The most bytes of a call's own input of which the reply is kept. */
const MAX_INPUT = 4 << 20

/**
 * Puts what a call refers to in its place, so that all that follows sees the whole conversation. What has the seal of an upstream stays, and so do
 * references to items that are not found: `checkKept` refuses them. Throws `GatewayError` (400) for a response that is not found.
 */
export async function continued(sent: JsonBody, responses: KeptResponses): Promise<Continued> {
  const chain: string[] = []
  const changes: Record<string, unknown> = {}
  let isOurs = sent.member('conversation') == null
  if (keptIds(sent.guarded).length > 0) {
    const previous = sent.member('previous_response_id') ?? undefined
    const own = inputItems(sent.member('input'))
    const turns = new Turns(responses)
    if (previous !== undefined && unsealed(previous) === undefined) {
      chain.push(...(await turns.chainTo(String(previous))))
      changes.previous_response_id = undefined
    } else isOurs &&= previous === undefined
    const items = await turns.resolved([...chain.flatMap((id) => itemsOf(turns.known.get(id)!)), ...own])
    isOurs &&= !items.some(isReferenceItem)
    if (chain.length > 0 || items.some((item, index) => item !== own[index])) changes.input = items
  }
  const isWanted = sent.member('store') !== false
  const isBackground = sent.member('background') === true
  if (isBackground && !isWanted) throw notInBackground('A background response is kept: leave `store: false` out.')
  if (isBackground && !isOurs)
    throw notInBackground('An upstream keeps this conversation: leave `background` out, and ask for a stream.')
  if (!isOurs || !isWanted) return { changes, kept: undefined }
  const input = sent.text('input') ?? 'null'
  if (isBackground && input.length > MAX_INPUT) throw notInBackground('The input is too long to be kept.')
  // The reply says so.
  if (input.length > MAX_INPUT) return { changes: { ...changes, store: false }, kept: undefined }
  if (sent.member('store') === true) changes.store = undefined
  const id = newResponseId()
  if (isBackground)
    return { changes: { ...changes, background: undefined }, kept: new BackgroundReply(id, { chain, input }, responses) }
  return {
    changes,
    kept: {
      id,
      previous: chain.at(-1) ?? null,
      isBackground: false,
      complete: (response) => responses.keep(id, { chain, input, response }),
    },
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
      if (found !== undefined && (isReferenceItem(found) || ids.has(found.id))) return []
      if (own.id !== undefined) ids.add(own.id)
      return [own]
    })
  }

  #find(id: unknown): Item | undefined {
    const response = responseOfItem(id)
    const turn = response === undefined ? undefined : this.known.get(response)
    return turn && itemOf(turn, response!, String(id))
  }

  async #load(ids: readonly string[]): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.known.has(id))
    for (const [id, turn] of await this.#responses.get(unknown)) this.known.set(id, turn)
  }
}
