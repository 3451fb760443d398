import type Koa from 'koa'
import { modelNotFound } from '../protocol/call.ts'
import type { ClientWire } from '../protocol/client-protocol.ts'
import { type KnownModel, toModelObject } from '../protocol/known-model.ts'
import { MESSAGES_WIRE } from '../protocol/messages/endpoint.ts'
import { pageOf, type Query, toModelInfo } from '../protocol/messages/models.ts'
import { VERSION_HEADER } from '../protocol/messages/version.ts'
import type { ListForm } from '../routing/listing.ts'
import type { Endpoint } from './exchange.ts'
import { requirePrincipal } from './serve.ts'

/** The shape in which a client reads models. */
interface ModelShape {
  readonly wire?: ClientWire
  readonly text: (model: KnownModel) => string
  readonly list: ListForm
  /** Writes a part of the list, if the query asks for one. */
  readonly page?: (models: readonly KnownModel[], query: Query) => string
}

/** The JSON text of each model, which many callers get. */
function remembered(shape: (model: KnownModel) => object): ModelShape['text'] {
  const texts = new WeakMap<KnownModel, string>()
  return (model) => {
    const known = texts.get(model)
    if (known !== undefined) return known
    const text = JSON.stringify(shape(model))
    texts.set(model, text)
    return text
  }
}

const openaiText = remembered(toModelObject)
const messagesText = remembered(toModelInfo)

const OPENAI: ModelShape = {
  text: openaiText,
  list: { name: 'openai', write: (models) => `{"object":"list","data":[${models.map(openaiText).join(',')}]}` },
}

function messagesPage(all: readonly KnownModel[], query: Query): string {
  const { models, hasMore } = pageOf(all, query)
  const ends = { has_more: hasMore, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null }
  return `{"data":[${models.map(messagesText).join(',')}],${JSON.stringify(ends).slice(1)}`
}

const MESSAGES: ModelShape = {
  wire: MESSAGES_WIRE,
  text: messagesText,
  list: { name: 'messages', write: (models) => messagesPage(models, {}) },
  page: messagesPage,
}

/** The endpoints of models. */
export interface ModelEndpoints {
  /** `GET /v1/models`: the principal's models. */
  readonly list: Endpoint
  /** `GET /v1/models/{id}`. The id may be percent-encoded. */
  readonly one: Endpoint
}

const endpointsFor = ({ wire, text, list, page }: ModelShape): ModelEndpoints => {
  const common = { name: 'models', check: 'no body', wire } as const
  return {
    list: {
      ...common,
      async serve(exchange, ctx) {
        const principal = requirePrincipal(exchange)
        const { models } = exchange.generation!
        const isPage = page !== undefined && ctx.querystring !== ''
        const body = isPage ? Buffer.from(page(await models.list(principal), ctx.query)) : await models.written(principal, list)
        exchange.answer({ kind: 'whole', body })
      },
    },
    one: {
      ...common,
      async serve(exchange, ctx) {
        const principal = requirePrincipal(exchange)
        const name = decodeOnce(ctx.path.slice(MODELS_PATH.length + 1).replace(/\/$/, ''))
        const model = await exchange.generation!.models.find(name, principal)
        if (model === undefined) throw modelNotFound(name)
        exchange.answer({ kind: 'whole', body: Buffer.from(text(model)) })
      },
    },
  }
}

/** The path of the list; that of a model is below it. */
export const MODELS_PATH = '/v1/models'

const FOR_OPENAI = endpointsFor(OPENAI)
const FOR_ANTHROPIC = endpointsFor(MESSAGES)

/** The endpoints for a request: Anthropic's clients send its version, and read models in its own shape. */
export const modelEndpointsFor = (ctx: Pick<Koa.ParameterizedContext, 'get'>): ModelEndpoints =>
  ctx.get(VERSION_HEADER) === '' ? FOR_OPENAI : FOR_ANTHROPIC

/** `ns%2Fm` (SDKs) and `ns/m` (typed) are the same id; `%252F` is another, `%zz` is invalid. */
function decodeOnce(rawId: string): string {
  try {
    return decodeURIComponent(rawId)
  } catch {
    throw modelNotFound(rawId)
  }
}
