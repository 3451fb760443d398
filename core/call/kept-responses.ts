import type { ParameterizedContext } from 'koa'
import { GatewayError } from '../errors.ts'
import { conversationTo } from '../kept/conversation.ts'
import { KeptResponses, type KeptResponsesServices } from '../kept/kept-responses.ts'
import type { KeptTurn } from '../kept/turn.ts'
import type { PlainEndpointName } from '../protocol/endpoints/plain-endpoints.ts'
import { unsealed } from '../protocol/kept-ids.ts'
import { RESPONSES_WIRE } from '../protocol/responses/endpoint.ts'
import { itemList } from '../protocol/responses/item-list.ts'
import type { Endpoint, Exchange } from './exchange.ts'
import { requirePrincipal } from './serve.ts'

/** A request for a kept response. */
interface KeptRequest {
  readonly id: string
  readonly turn: KeptTurn
  readonly responses: KeptResponses
  readonly query: ParameterizedContext['query']
}

/** An endpoint of a response that the gateway keeps. */
export interface KeptEndpoint {
  readonly name: PlainEndpointName
  readonly endpoint: Endpoint
}

/** The endpoints of the responses that the gateway keeps. */
export function keptEndpoints(services: KeptResponsesServices): readonly KeptEndpoint[] {
  const row = (name: PlainEndpointName, reply: (request: KeptRequest) => object | Promise<object>): KeptEndpoint => ({
    name,
    endpoint: {
      name,
      check: 'no body',
      wire: RESPONSES_WIRE,
      async serve(exchange, ctx) {
        const body = await reply(await keptRequest(exchange, ctx, services))
        exchange.answer({ kind: 'whole', body: Buffer.from(JSON.stringify(body)) })
      },
    },
  })
  return [
    row('responses.retrieve', ({ turn, query }) => {
      if (query.stream === 'true')
        throw new GatewayError('unsupported_parameter', { param: 'stream', values: { detail: NO_EVENTS } })
      return turn.response
    }),
    row('responses.delete', async ({ id, responses }) => {
      await responses.delete(id)
      return { id, object: 'response', deleted: true }
    }),
    row('responses.input_items', async ({ id, responses, query }) => itemList(await conversationTo(id, responses), query)),
  ]
}

const NO_EVENTS = ' The events of a response are not kept: leave it out.'

/** Throws `GatewayError` (404) for a response that is not kept for the caller's account, whether or not another account has it. */
async function keptRequest(exchange: Exchange, ctx: ParameterizedContext, services: KeptResponsesServices): Promise<KeptRequest> {
  const { account } = requirePrincipal(exchange)
  const { id } = ctx.params as { readonly id: string }
  const responses = KeptResponses.of(account, exchange.generation!.keeping, services)
  const turn = (await responses?.get([id]))?.get(id)
  if (responses !== undefined && turn !== undefined) return { id, turn, responses, query: ctx.query }
  throw new GatewayError('response_not_found', { values: { id: id.slice(0, 200), detail: whyNot(id, responses) } })
}

function whyNot(id: string, responses: KeptResponses | undefined): string {
  if (unsealed(id) !== undefined) return ' Its upstream keeps it: only calls with `previous_response_id` reach it.'
  return responses === undefined
    ? ' The gateway keeps no responses of your account: `keepResponses` of its configuration does.'
    : ''
}
