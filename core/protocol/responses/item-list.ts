import { GatewayError } from '../../errors.ts'

type Item = Readonly<Record<string, unknown>>

/** The query of a request, as Koa reads it. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** The most items of a page, and how many it has without `limit` (openai-node 7.55, `InputItemListParams`). */
const MOST = 100
const USUAL = 20

/** The page of a list of items that a client asks for by `limit`, `order` and `after`. `items`: the oldest first. Throws 400 `invalid_value`. */
export function itemList(items: readonly Item[], { limit: wanted, order = 'desc', after }: Query): object {
  const limit = wanted === undefined ? USUAL : Number(wanted)
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MOST))
    throw invalid('limit', `it must be a whole number from 1 to ${MOST}`)
  if (order !== 'asc' && order !== 'desc') throw invalid('order', 'it must be `asc` or `desc`')
  const ordered = order === 'asc' ? items : items.toReversed()
  const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && start === 0) throw invalid('after', 'the list has no such item')
  const data = ordered.slice(start, start + limit)
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { object: 'list', data, first_id, last_id, has_more: start + limit < ordered.length }
}

const invalid = (param: string, detail: string) => new GatewayError('invalid_value', { param, values: { detail } })
