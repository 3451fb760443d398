import { randomBytes } from 'node:crypto'

/** Stands between the upstream's id of an item and the name of its response: as the seal of what an upstream keeps, so that `unsealed` takes it off. */
const MARK = '.umg'
/** Bytes of a name: 22 characters of base64url. */
const NAME_BYTES = 16
const PREFIX = 'resp_'
const RESPONSE = /^resp_([\w-]{22})$/
const ITEM = /\.umg([\w-]{22})$/

/** The id of a response that the gateway keeps, which nobody can guess. */
export const newResponseId = (): string => PREFIX + randomBytes(NAME_BYTES).toString('base64url')

/** Whether the gateway may have made this id of a response. */
export const isResponseId = (id: unknown): id is string => typeof id === 'string' && RESPONSE.test(id)

/** The id of an item, which names the response that has it. `own`: by which its upstream knows it. */
export const itemIdIn = (response: string, own: string): string => own + MARK + response.slice(PREFIX.length)

/** The response that has an item, by the item's id; undefined if the gateway has not made that. */
export function responseOfItem(id: unknown): string | undefined {
  const name = typeof id === 'string' ? ITEM.exec(id)?.[1] : undefined
  return name === undefined ? undefined : PREFIX + name
}
