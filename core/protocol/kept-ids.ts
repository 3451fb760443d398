import { createHmac, timingSafeEqual } from 'node:crypto'

/** Who keeps a response: a namespace, or one of its credentials, for one account. */
export interface Keeper {
  readonly namespace: string
  /** The name of the credential, if the namespace has several; each may be of a project that does not see what others keep. */
  readonly credential?: string | undefined
  readonly account: string
  /** What only gateways with the same credential know; '' if it has none. */
  readonly secret: string
}

/** Stands between an upstream's id and its seal. */
const MARK = '.umg'
/** Characters of base64url: 128 bits. */
const SEAL_LENGTH = 22
const SEALED = new RegExp(`^([\\w.:-]+)\\${MARK}([\\w-]{${SEAL_LENGTH}})$`)
/** Ids that need no escape in JSON. */
const PLAIN = /^[\w.:-]+$/

/** The id of a response with a seal that only its keeper's gateways can make (docs/decisions/kept-responses.md). */
export const sealed = (id: string, keeper: Keeper): string => `${id}${MARK}${sealOf(id, keeper)}`

/** The upstream's id in a sealed one; undefined for any other value. */
export const unsealed = (id: unknown): string | undefined => (typeof id === 'string' ? SEALED.exec(id)?.[1] : undefined)

/** Whether an id bears the seal of a keeper. */
export function isKeptBy(id: unknown, keeper: Keeper): boolean {
  const [, own, seal] = (typeof id === 'string' && SEALED.exec(id)) || []
  return own !== undefined && timingSafeEqual(Buffer.from(seal!), Buffer.from(sealOf(own, keeper)))
}

/** The JSON text of a response, or of an event that has one, with its ids sealed. They match as whole strings only: quotes in a text are escaped. */
export function withSealedIds(json: string, response: Readonly<Record<string, unknown>>, keeper: Keeper): string {
  let changed = json
  for (const id of [response.id, response.previous_response_id])
    if (typeof id === 'string' && PLAIN.test(id)) changed = changed.replaceAll(`"${id}"`, `"${sealed(id, keeper)}"`)
  return changed
}

const sealOf = (id: string, { namespace, credential, account, secret }: Keeper): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify([namespace, account, id, ...(credential === undefined ? [] : [credential])]))
    .digest('base64url')
    .slice(0, SEAL_LENGTH)
