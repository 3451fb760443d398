import type { EndpointName } from '../sdk/api.ts'
import { fetchedMembers } from './addresses.ts'
import { wantedKeys } from './guarded-members.ts'
import type { Sought } from './json.ts'

const KNOWN = new Map<EndpointName, Sought>()

/** What the scan of an endpoint's requests finds below the top level: guarded members, and addresses that an upstream may fetch. */
export function soughtAt(endpoint: EndpointName): Sought {
  let sought = KNOWN.get(endpoint)
  if (sought === undefined) {
    sought = { keys: wantedKeys(endpoint), fetched: fetchedMembers(endpoint) }
    KNOWN.set(endpoint, sought)
  }
  return sought
}
