import type { IncomingHttpHeaders } from 'node:http'
import type { When } from '../config/schema/when.ts'
import type { EndpointName, ModelId, Principal } from '../sdk/api.ts'

/** A call, as far as `when` of a link depends on it. */
export interface ConditionedCall {
  readonly endpointName: EndpointName | 'none'
  readonly principal: Principal | undefined
  readonly tags: Readonly<Record<string, string>>
  /** Whether requests to the endpoint name a model. */
  readonly hasModel: boolean
  /** Reads the body. */
  model(): Promise<ModelId>
}

/** Whether a call passes a link with `when`. Reads the body only if all else fits and it names namespaces. */
export async function fits(
  { namespaces, endpoints, accounts, keys, tags, headers }: When,
  call: ConditionedCall,
  received: IncomingHttpHeaders,
): Promise<boolean> {
  const { endpointName, principal } = call
  if (endpoints !== undefined && !endpoints.some((endpoint) => endpoint === endpointName)) return false
  if (accounts !== undefined && !accounts.includes(principal?.account ?? '')) return false
  if (keys !== undefined && !keys.includes(principal?.keyId ?? '')) return false
  const own: Readonly<Record<string, string>> = { ...principal?.tags, ...call.tags }
  if (Object.entries(tags ?? {}).some(([name, value]) => own[name] !== value)) return false
  if (Object.entries(headers ?? {}).some(([name, value]) => received[name] !== value)) return false
  return namespaces === undefined || (call.hasModel && namespaces.includes((await call.model()).namespace))
}

/** Why calls of a key to a namespace never pass the link, as far as that is known before a call; undefined if they may. */
export function exclusion(
  { namespaces, accounts, keys }: When,
  namespace: string | undefined,
  principal: Principal | undefined,
): 'namespace' | 'account' | 'key' | undefined {
  if (namespaces !== undefined && (namespace === undefined || !namespaces.includes(namespace))) return 'namespace'
  if (principal === undefined) return undefined
  if (accounts !== undefined && !accounts.includes(principal.account)) return 'account'
  return keys !== undefined && !keys.includes(principal.keyId) ? 'key' : undefined
}
