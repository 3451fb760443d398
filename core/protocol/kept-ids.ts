import { createHmac, timingSafeEqual } from 'node:crypto'
import type { KeptReply } from './kept-reply.ts'

/** Who keeps a response: a namespace, or one of its credentials, for one account. */
export interface Keeper {
  readonly namespace: string
  /** The name of the credential, if the namespace has several; each may be of a project that does not see what others keep. */
  readonly credential?: string | undefined
  readonly account: string
  /** What only gateways with the same credential know; '' if it has none. */
  readonly secret: string
}

/** What a call is to its keeper, before it is answered. */
export interface KeptCall {
  readonly keeper: Keeper
  /** Present if the gateway keeps the reply, and not the upstream. */
  readonly kept?: KeptReply | undefined
  /** The sealed id of the response that it goes on from, as the client sent it. */
  readonly previous: unknown
  /** The most tokens of its prompt, with what it refers to; undefined if that is unknown. */
  readonly promptTokens: number | undefined
}

/** Stands between an upstream's id and its seal. */
const MARK = '.umg'
/** Characters of base64url: 128 bits. */
const SEAL_LENGTH = 22
const SEALED = new RegExp(`^([\\w.:-]+)\\${MARK}(?:(\\d{1,15})\\.)?([\\w-]{${SEAL_LENGTH}})$`)
/** Ids that need no escape in JSON. */
const PLAIN = /^[\w.:-]+$/

/** Whether an upstream's id can get a seal. */
export const isSealable = (id: unknown): id is string => typeof id === 'string' && PLAIN.test(id)

/**
 * The id of a response, or of an item of one, with a seal that only its keeper's gateways can make (docs/decisions/kept-responses.md).
 * `tokens`: the most that it adds to the prompt of a call that refers to it; undefined if that is unknown.
 */
export function sealed(id: string, keeper: Keeper, tokens?: number): string {
  return `${id}${MARK}${tokens === undefined ? '' : `${tokens}.`}${sealOf({ id, tokens }, keeper)}`
}

/** The upstream's id in a sealed one; undefined for any other value. */
export const unsealed = (id: unknown): string | undefined => partsOf(id)?.id

/** The most tokens that a sealed id adds to a prompt; undefined if it does not say, or is none. */
export const keptTokensOf = (id: unknown): number | undefined => partsOf(id)?.tokens

/** Whether an id bears the seal of a keeper. */
export function isKeptBy(id: unknown, keeper: Keeper): boolean {
  const parts = partsOf(id)
  return parts !== undefined && timingSafeEqual(Buffer.from(parts.seal), Buffer.from(sealOf(parts, keeper)))
}

interface Sealed {
  readonly id: string
  readonly tokens: number | undefined
}

function partsOf(id: unknown): (Sealed & { readonly seal: string }) | undefined {
  const [, own, tokens, seal] = (typeof id === 'string' && SEALED.exec(id)) || []
  return own === undefined ? undefined : { id: own, tokens: tokens === undefined ? undefined : Number(tokens), seal: seal! }
}

const sealOf = ({ id, tokens }: Sealed, { namespace, credential, account, secret }: Keeper): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify([namespace, account, id, ...[credential, tokens].filter((part) => part !== undefined)]))
    .digest('base64url')
    .slice(0, SEAL_LENGTH)
