import { Router } from '@koa/router'
import type { Generation } from '../generation.ts'
import type { Workers } from '../workers/pool.ts'
import type { Chain } from './chain.ts'
import { chatCompletions } from './endpoints/chat-completions.ts'
import { type CallServices, complete, type ModelEndpoint } from './endpoints/completions.ts'
import { embeddings } from './endpoints/embeddings.ts'
import { sendModel, sendModels } from './endpoints/models.ts'
import { responses } from './endpoints/responses.ts'
import type { Exchange } from './exchange.ts'
import type { CallContext } from './passage.ts'
import { type Endpoint, Visit } from './visit.ts'

/** What `/v1` is made of. */
export interface ApiParts extends CallServices {
  readonly chain: Chain
  readonly workers: Workers
  /** The generation that serves new calls. */
  current(): Generation
}

/** Endpoints that a model answers; each is one small file. */
const MODEL_ENDPOINTS: readonly ModelEndpoint[] = [chatCompletions, embeddings, responses]

const MODELS = '/v1/models'

/** `/v1`, and what its routes do. */
export function apiRoutes(parts: ApiParts): Router {
  const router = new Router({ strict: true, sensitive: true })
  for (const { name, path, check, reply } of MODEL_ENDPOINTS) {
    const endpoint: Endpoint = { name, check, run: (exchange, generation) => complete(exchange, generation, reply, parts) }
    router.post(path, (ctx) => serve(ctx as never, endpoint, parts))
  }
  const models: Endpoint = { name: 'models', run: sendModels }
  router.get(MODELS, (ctx) => serve(ctx as never, models, parts))
  const model: Endpoint = {
    name: 'models',
    run: (exchange, generation, { path }) => sendModel(exchange, generation, path.slice(MODELS.length + 1)),
  }
  router.get(`${MODELS}/*id`, (ctx) => serve(ctx as never, model, parts))
  return router
}

/** One call: a generation is held for all of it, and the chain runs around its endpoint. */
function serve(ctx: CallContext, endpoint: Endpoint, { chain, current, relayTimes, workers }: ApiParts): Promise<void> {
  const exchange = ctx.state as Exchange
  const generation = current().hold()
  const visit = new Visit(ctx, { exchange, endpoint, generation, relayTimes, workers })
  exchange.begin(visit)
  return chain.run(generation.links, visit)
}
