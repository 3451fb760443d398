import type { IncomingHttpHeaders } from 'node:http'
import type { Sticky } from '../config/schema/sticky.ts'
import { type ClientBody, ClientCall } from '../protocol/call.ts'
import { sessionOf } from '../protocol/session-signals.ts'
import { type Affinity, hashOf } from '../routing/affinity.ts'
import type { Call } from '../sdk/api.ts'
import { isRecord } from '../sdk/json.ts'

/** Who makes a call. */
export interface Caller {
  /** The id of the caller's key. */
  readonly key: string
  /** The id of the caller's account. */
  readonly account: string
  /** The headers of the client's request. */
  readonly headers: IncomingHttpHeaders
}

type Found = { readonly signal: string; readonly id: string; readonly isShared?: true } | undefined

/** What a call has in common with others, by `sticky`: found when it is first asked for, of a call that may go to several places. */
export class CallAffinity {
  readonly #call: Call
  readonly #caller: Caller
  readonly #known = new Map<Sticky, Affinity | undefined>()

  constructor(call: Call, caller: Caller) {
    this.#call = call
    this.#caller = caller
  }

  /** Undefined if the call has nothing of this kind. */
  by(sticky: Sticky): Affinity | undefined {
    if (sticky === 'none') return undefined
    if (this.#known.has(sticky)) return this.#known.get(sticky)
    const found = FINDERS[sticky](this.#call, this.#caller)
    // With the account, an id that a client has chosen is another one than the same id of another account.
    const affinity = found && {
      signal: found.signal,
      hash: hashOf(`${this.#caller.account}\0${found.id}`),
      isShared: found.isShared === true,
    }
    this.#known.set(sticky, affinity)
    return affinity
  }
}

const FINDERS: Readonly<Record<Exclude<Sticky, 'none'>, (call: Call, caller: Caller) => Found>> = {
  session: sessionIn,
  prompt: (call, caller) => sessionIn(call, caller) ?? promptIn(call),
  key: (_call, { key }) => ({ signal: 'key', id: key }),
  user: userIn,
}

const clientOf = (call: Call): ClientBody => ClientCall.bodyOf(call).client

function sessionIn(call: Call, { headers }: Caller): Found {
  const client = clientOf(call)
  const session = sessionOf(headers, (name) => client.shortMember(name))
  return session && { signal: session.signal.name, id: session.id, ...(session.signal.isShared && { isShared: true }) }
}

function userIn(call: Call): Found {
  const user = call.member('user')
  return typeof user === 'string' ? { signal: 'user', id: user } : undefined
}

/** Where the endpoints of conversations have instructions, and messages. */
const INSTRUCTIONS = ['system', 'instructions']
const MESSAGES = ['messages', 'input']
/** The most messages before the first one of the user that count. */
const MOST_BEFORE = 4

/**
 * The instructions, and the messages up to the first one of the user: what the next turns begin with too. Marks of caches are none of it, because
 * clients move them on to the newest message.
 */
function promptIn(call: Call): Found {
  const client = clientOf(call)
  const parts: unknown[] = INSTRUCTIONS.map((name) => client.member(name))
  const count = parts.length
  for (const name of MESSAGES) {
    for (const message of client.items(name)) {
      parts.push(isRecord(message) ? [message.role, message.content] : message)
      if (parts.length > count + MOST_BEFORE || (isRecord(message) && message.role === 'user')) break
    }
  }
  if (parts.length === count) return undefined
  return { signal: 'first messages', id: JSON.stringify(parts, withoutMarks), isShared: true }
}

const withoutMarks = (key: string, value: unknown): unknown => (key === 'cache_control' ? undefined : value)
