import { GatewayError } from '../errors.ts'
import type { Principal } from '../plugin/api.ts'
import type { Route } from './route.ts'
import type { RoutingTable } from './table.ts'

/** A live key that may call every model: what stands for callers where none is named. */
export const ANY_KEY: Principal = Object.freeze({ keyId: 'any', name: 'any', kind: 'live', account: 'any', models: [] })

/** The route by which calls of a principal are served; undefined where there is none, or none for it. */
export function routeFor(table: RoutingTable, name: string, principal: Principal): Route | undefined {
  const model = table.resolve(name)
  if (model === undefined) return undefined
  try {
    return table.route(model, principal)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}
