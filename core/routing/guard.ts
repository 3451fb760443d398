import type { GuardedMember } from '../protocol/guarded-members.ts'
import type { Keeper } from '../protocol/kept-ids.ts'
import { checkKept } from '../protocol/kept-references.ts'
import { unsupportedParameter } from '../sdk/parameters.ts'
import type { Target } from './route.ts'

/** What a caller may use at a target. */
export interface Reach {
  readonly target: Target
  readonly keeper: Keeper
  /** Whether the caller may call a model, by its id. */
  readonly mayCall: (id: string) => boolean
}

/**
 * Throws `GatewayError` (400) for the guarded members of a call, in the client's own protocol, that would reach a model or something kept that its caller may not
 * use: docs/decisions/members-of-requests.md.
 */
export function checkGuarded(members: readonly GuardedMember[], { target, keeper, mayCall }: Reach): void {
  if (members.length === 0) return
  const { namespace } = target.served
  for (const { kind, param, value } of members) {
    if (kind === 'model') {
      const id = `${namespace}/${typeof value === 'string' ? value : JSON.stringify(value)}`
      if (!mayCall(id))
        throw unsupportedParameter(
          param,
          `Your key may not call '${id.slice(0, 200)}': name a model of GET /v1/models, or leave it out.`,
        )
    } else if (kind === 'choice')
      throw unsupportedParameter(
        param,
        'It chooses another model. Name one, in `model`; the operator configures which model follows another.',
      )
    else if (kind === 'later' && value !== false)
      throw unsupportedParameter(
        param,
        'The gateway keeps no replies to fetch later: leave it out, and ask for a stream if the answer takes long.',
      )
    else if (kind === 'kept' && !target.keptObjects && !isEmpty(value))
      throw unsupportedParameter(
        param,
        `It refers to what the upstream keeps, and all callers share that: send the content itself. The operator may allow it by \`keptObjects: allow\` of the namespace ${namespace}.`,
      )
  }
  checkKept(members, keeper)
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0
