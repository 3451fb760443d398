import { asksForNothing, type Call, type ParameterSupport, unsupportedParameter } from 'unified-model-gateway/plugin'

/** The members of chat completions that a vendor refuses, by name, and whether the gateway drops them or refuses the call. */
export type UnsupportedMembers = Readonly<Record<string, ParameterSupport>>

/** The members of a call that its vendor must not get. */
export interface Omitted {
  readonly members: readonly string[]
  /** Those of them that asked for something: the client is told. */
  readonly dropped: readonly string[]
}

/**
 * Finds the members of a call that its vendor refuses. Throws `GatewayError` (400) for one that asks for what cannot be left out. Members
 * with a value that asks for nothing, such as `store: false`, are omitted without a word.
 */
export function omittedFrom(call: Pick<Call, 'keys' | 'member'>, table: UnsupportedMembers): Omitted {
  const members = call.keys.filter((name) => Object.hasOwn(table, name))
  const dropped = members.filter((name) => !asksForNothing(name, call.member(name)))
  for (const name of dropped) {
    const entry = table[name]!
    if (entry.support === 'refused') throw unsupportedParameter(name, entry.why ?? 'This vendor does not take it.')
  }
  return { members, dropped }
}
