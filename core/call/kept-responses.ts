import type { ParameterizedContext } from 'koa'
import { GatewayError } from '../errors.ts'
import { BackgroundResponses } from '../kept/background-responses.ts'
import { conversationTo } from '../kept/conversation.ts'
import { KeptResponses, type KeptResponsesServices } from '../kept/kept-responses.ts'
import type { KeptTurn } from '../kept/turn.ts'
import type { PlainEndpointName } from '../protocol/endpoints/plain-endpoints.ts'
import { unsealed } from '../protocol/kept-ids.ts'
import { isInBackground, isPending } from '../protocol/responses/background.ts'
import { RESPONSES_WIRE } from '../protocol/responses/endpoint.ts'
import { itemList } from '../protocol/responses/item-list.ts'
import type { Admission } from './admission.ts'
import type { BackgroundCalls } from './background-calls.ts'
import { sendEvents } from './background-events.ts'
import type { Endpoint, Exchange } from './exchange.ts'
import type { RequestLimit } from './request-limit.ts'
import { requirePrincipal } from './serve.ts'

/** A request for a kept response. */
interface KeptRequest {
  readonly exchange: Exchange
  readonly id: string
  readonly turn: KeptTurn
  readonly responses: KeptResponses
  readonly background: BackgroundResponses
  readonly query: ParameterizedContext['query']
}

/** An endpoint of a response that the gateway keeps. */
export interface KeptEndpoint {
  readonly name: PlainEndpointName
  readonly endpoint: Endpoint
}

/** The services of these endpoints. */
export interface KeptEndpointServices extends KeptResponsesServices {
  readonly background: BackgroundCalls
  readonly admission: Pick<Admission, 'placeFor'>
}

/** The endpoints of the responses that the gateway keeps. */
export function keptEndpoints(services: KeptEndpointServices, requests: RequestLimit): readonly KeptEndpoint[] {
  const { background: calls, admission } = services
  /** `reply`: undefined if it has answered itself. */
  const row = (name: PlainEndpointName, reply: (request: KeptRequest) => object | Promise<object | undefined>): KeptEndpoint => ({
    name,
    endpoint: {
      name,
      check: 'no body',
      wire: RESPONSES_WIRE,
      async serve(exchange, ctx) {
        requests.take(requirePrincipal(exchange).account)
        const body = await reply(await keptRequest(exchange, ctx, services))
        if (body !== undefined) exchange.answer({ kind: 'whole', body: Buffer.from(JSON.stringify(body)) })
      },
    },
  })
  return [
    row('responses.retrieve', async ({ exchange, id, turn, background, query }) => {
      if (query.stream !== 'true') return turn.response
      const after = startingAfter(query)
      if (!(await background.hasEvents(id))) throw new GatewayError('response_without_events', { param: 'stream' })
      exchange.signal.throwIfAborted()
      const place = admission.placeFor(exchange.principal!.account)
      exchange.signal.addEventListener('abort', () => place.release(), { once: true })
      sendEvents(exchange, { id, after, responses: background, calls })
      return undefined
    }),
    row('responses.cancel', async ({ id, turn, background }) => {
      if (!isInBackground(turn.response)) throw new GatewayError('response_not_in_background')
      const { response } = (await background.cancel(id)) ?? turn
      calls.abort(id)
      return response
    }),
    row('responses.delete', async ({ id, responses, background, turn }) => {
      if (isPending(turn.response)) throw new GatewayError('response_under_way')
      await responses.delete(id)
      if (isInBackground(turn.response)) await background.delete(id)
      return { id, object: 'response', deleted: true }
    }),
    row('responses.input_items', async ({ id, responses, query }) => itemList(await conversationTo(id, responses), query)),
  ]
}

/** The number of the last event that a client has; -1 if it has none. */
function startingAfter({ starting_after: number }: ParameterizedContext['query']): number {
  if (number === undefined) return -1
  if (typeof number === 'string' && /^\d{1,9}$/.test(number)) return Number(number)
  throw new GatewayError('invalid_value', { param: 'starting_after', values: { detail: 'expected the number of an event' } })
}

/** Throws `GatewayError` (404) for a response that is not kept for the caller's account, whether or not another account has it. */
async function keptRequest(exchange: Exchange, ctx: ParameterizedContext, services: KeptEndpointServices): Promise<KeptRequest> {
  const principal = requirePrincipal(exchange)
  const { id } = ctx.params as { readonly id: string }
  const { keeping } = exchange.generation!
  const responses = KeptResponses.of(principal, keeping, services)
  const background = BackgroundResponses.of(principal, keeping, services.background.options)
  const turn = (await background?.find(id))?.turn ?? (await responses?.get([id]))?.get(id)
  if (responses && background && turn) return { exchange, id, turn, responses, background, query: ctx.query }
  throw new GatewayError('response_not_found', { values: { id: id.slice(0, 200), detail: whyNot(id, responses) } })
}

function whyNot(id: string, responses: KeptResponses | undefined): string {
  if (unsealed(id) !== undefined) return ' Its upstream keeps it: only calls with `previous_response_id` reach it.'
  return responses === undefined
    ? ' The gateway keeps no responses of your account: `keepResponses` of its configuration does.'
    : ''
}
