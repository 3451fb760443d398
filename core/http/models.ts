import { GatewayError } from '../errors.ts'
import type { Generation } from '../gateway/generation.ts'
import { findModel, listModels } from '../routing/listing.ts'
import { notFound } from '../routing/table.ts'
import type { Principal } from '../sdk/api.ts'
import type { Exchange } from './exchange.ts'

/** `GET /v1/models`: what the principal may call. */
export async function sendModels(exchange: Exchange, { table }: Generation): Promise<void> {
  const data = await listModels(table, requirePrincipal(exchange))
  exchange.body = Buffer.from(JSON.stringify({ object: 'list', data }))
}

/** `GET /v1/models/{id}`: `rawId` as it stands in the path, percent-encoded or not. */
export async function sendModel(exchange: Exchange, { table }: Generation, rawId: string): Promise<void> {
  const principal = requirePrincipal(exchange)
  const name = decodeOnce(rawId)
  const model = await findModel(table, name, principal)
  if (model === undefined) throw notFound(name)
  exchange.body = Buffer.from(JSON.stringify(model))
}

function requirePrincipal({ principal }: Exchange): Principal {
  if (principal === undefined) throw new GatewayError('missing_api_key')
  return principal
}

/** `ns%2Fm` (the SDKs) and `ns/m` (people) are the same id; `%252F` is not, and `%zz` is none. */
function decodeOnce(rawId: string): string {
  try {
    return decodeURIComponent(rawId)
  } catch {
    throw notFound(rawId)
  }
}
