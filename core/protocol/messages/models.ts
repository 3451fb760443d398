import { GatewayError } from '../../errors.ts'
import type { KnownModel } from '../known-model.ts'

/**
 * A model as Anthropic's clients read it ("List Models", platform.claude.com/docs/en/api/models/list, and `ModelInfo` of @anthropic-ai/sdk
 * 1.11, read 2026-11-26): limits and capabilities may be null, an unknown date is the epoch. `lifecycle`, `line` and their dates are
 * Anthropic's own and left out.
 */
export function toModelInfo({ id, created, name, context, output, capabilities }: KnownModel) {
  return {
    type: 'model' as const,
    id,
    display_name: name ?? id,
    created_at: new Date(created * 1000).toISOString().replace('.000Z', 'Z'),
    max_input_tokens: context ?? null,
    max_tokens: output ?? null,
    // The gateway does not serve the Batch API.
    capabilities: capabilities === undefined ? null : { ...capabilities, batch: { supported: false } },
  }
}

/** A part of a list. */
export interface ModelPage {
  readonly models: readonly KnownModel[]
  readonly hasMore: boolean
}

/** The query of a request, as Koa reads it. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * The part of a list that a client asks for by `limit`, `after_id` and `before_id`. Without a limit, which is 20 at Anthropic, it is all of the list.
 * Throws 400 `invalid_value`.
 */
export function pageOf(models: readonly KnownModel[], query: Query): ModelPage {
  const limit = query.limit === undefined ? models.length : Number(query.limit)
  if (query.limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= MOST)) {
    throw invalid('limit', `it must be a whole number from 1 to ${MOST}`)
  }
  const { before_id: before, after_id: after } = query
  if (before !== undefined) {
    const end = indexOf(models, 'before_id', before)
    const start = Math.max(0, end - limit)
    return { models: models.slice(start, end), hasMore: start > 0 }
  }
  const start = after === undefined ? 0 : indexOf(models, 'after_id', after) + 1
  return { models: models.slice(start, start + limit), hasMore: start + limit < models.length }
}

/** The most models of a page. */
const MOST = 1000

function indexOf(models: readonly KnownModel[], param: string, wanted: string | readonly string[]): number {
  const index = models.findIndex(({ id }) => id === wanted)
  if (index < 0) throw invalid(param, 'the list has no such model')
  return index
}

const invalid = (param: string, detail: string) => new GatewayError('invalid_value', { param, values: { detail } })
