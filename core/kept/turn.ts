import { itemIdIn } from '../protocol/responses/own-ids.ts'
import { isRecord } from '../sdk/api.ts'

/** An item of a conversation. */
export type Item = Readonly<Record<string, unknown>>

/** One call of `/v1/responses` and its reply: a turn of a conversation. */
export interface KeptTurn {
  /** The ids of the responses that it goes on from, the oldest first. */
  readonly chain: readonly string[]
  /** What this call has added: `input` as the client sent it, a text or items. */
  readonly input: unknown
  /** The response, as the client got it. */
  readonly response: Item
}

/** The `input` of a call as items. */
export const inputItems = (input: unknown): readonly Item[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : recordsOf(input)

/** The items of a turn's response. */
export const outputOf = ({ response }: KeptTurn): readonly Item[] => recordsOf(response.output)

/** The items that a turn adds to its conversation. */
export const itemsOf = (turn: KeptTurn): readonly Item[] => [...inputItems(turn.input), ...outputOf(turn)]

/** The items of a turn by their ids. `response`: the turn's own id. */
export const itemsById = (turn: KeptTurn, response: string): ReadonlyMap<unknown, Item> =>
  new Map([
    ...inputItems(turn.input).map((item, index) => [inputIdAt(index, response), item] as const),
    ...outputOf(turn).map((item) => [item.id, item] as const),
  ])

/** The items of a turn's input, those without an id with one. */
export const listedInput = ({ input }: KeptTurn, response: string): readonly Item[] =>
  inputItems(input).map((item, index) => ({
    ...item,
    type: item.type ?? 'message',
    ...(item.type !== 'item_reference' && typeof item.id !== 'string' && { id: inputIdAt(index, response) }),
  }))

const inputIdAt = (index: number, response: string): string => itemIdIn(response, `msg_in${index}`)

const recordsOf = (list: unknown): readonly Item[] => (Array.isArray(list) ? list.filter(isRecord) : [])
