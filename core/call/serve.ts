import { type CallStateStore, type DispatchRequest, dispatch } from '../dispatch/dispatch.ts'
import { checkReferences, profilesFor, toolFormsFor } from '../dispatch/serving.ts'
import { GatewayError } from '../errors.ts'
import type { Budgets } from '../limits/budgets.ts'
import type { CallMetrics } from '../observe/call-metrics.ts'
import type { PluginTimer } from '../plugins/faults.ts'
import { ClientCall } from '../protocol/call.ts'
import { BYTES_WIRE, type ClientWire, CONVERSATIONS } from '../protocol/client-protocol.ts'
import type { ModelEndpoint } from '../protocol/format.ts'
import { hostedTools } from '../protocol/hosted-tools.ts'
import { JsonBody } from '../protocol/json-body.ts'
import { refusedOfCount, VERSION_HEADER } from '../protocol/messages/version.ts'
import { prepareForms } from '../protocol/tool-forms.ts'
import { asSent, type CallWorkers, translationOf } from '../protocol/translation.ts'
import type { Handler } from '../routing/handler.ts'
import { candidatesOf } from '../routing/route.ts'
import type { Call, Principal } from '../sdk/api.ts'
import { unsupportedParameter } from '../sdk/parameters.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import type { ReplyThreads } from '../upstream/readers/whole.ts'
import type { Endpoint, Exchange } from './exchange.ts'

/** The services of calls, apart from their generation. */
export interface CallServices {
  readonly calls: CallMetrics
  readonly upstreams: UpstreamClient
  readonly workers: CallWorkers & ReplyThreads & { countTokens(call: Call): Promise<number> }
  readonly plugins: PluginTimer
  readonly budgets: Budgets
  readonly callStates: CallStateStore
}

/** The endpoint that sends calls of one format to the upstreams of their model. */
export function modelEndpoint(endpoint: ModelEndpoint, services: CallServices): Endpoint {
  const { name, check, form, reply: format, protocol, wire } = endpoint
  const { calls, upstreams: client, plugins: timer, budgets, workers } = services
  // Clients of other protocols keep states as signatures.
  const states = name === 'chat.completions' ? services.callStates : undefined
  const isCount = name === 'messages.count_tokens'
  const standIn = isCount ? tokenCounter(workers) : undefined
  const askedTools = (call: Call) =>
    call.large ? workers.compute(call, hostedTools, undefined) : hostedTools.run(call, undefined)
  async function serve(exchange: Exchange): Promise<void> {
    const principal = requirePrincipal(exchange)
    const call = await exchange.call()
    exchange.decide()
    exchange.trace?.capture(call, exchange.transforms)
    const { table, prices, config } = exchange.generation!
    const route = table.route(call.model, principal)
    exchange.route = route
    checkReferences(route, call)
    const candidates = candidatesOf(route.leads)
    const isCharged = principal.budgets !== undefined && !isCount
    const mayRefuseTools = isCharged || candidates.some(({ target }) => target.hostedTools !== undefined)
    const asked = mayRefuseTools && CONVERSATIONS.has(name) ? askedTools(asSent(call)) : NONE
    const tools = asked instanceof Promise ? await asked : asked
    if (isCharged) {
      const charge = budgets.charge({
        call,
        principal,
        candidates,
        prices,
        settings: config.budgets,
        hasHostedTools: tools.length > 0,
      })
      exchange.budgetCharge = charge instanceof Promise ? await charge : charge
    }
    // The client may disconnect while its body is read, or while a budget is asked for.
    if (exchange.closed) {
      exchange.budgetCharge?.settle({})
      return
    }
    const { budgetCharge } = exchange
    exchange.onClosed = calls.started(call.model.namespace)
    const translation = translationOf(call)
    if (exchange.transforms.length > 0) translation?.needChat()
    if (translation !== undefined && call.large && standIn === undefined) {
      await translation.prepare(call, profilesFor(candidates, call), workers)
      if (exchange.closed) return
    }
    const body = ClientCall.bodyOf(call)
    if (call.large && body instanceof JsonBody && body.hasToolForms) {
      await prepareForms(call, body, toolFormsFor(candidates, call), workers)
      if (exchange.closed) return
    }
    const request: DispatchRequest = {
      call,
      route,
      format,
      ...(standIn && { standIn }),
      client,
      threads: workers,
      timer,
      states,
      receivedAt: exchange.times.startedAt,
      nearest: (name) => table.nearest(name, principal),
      selection: {
        key: principal.keyId,
        account: principal.account,
        mayCall: (id) => table.mayCallNamed(id, principal),
        random: Math.random,
        terms: { hostedTools: tools, capFor: budgetCharge && ((candidate) => budgetCharge.capFor(candidate)) },
      },
    }
    const kind = format.kind?.(call) ?? (call.stream ? 'events' : 'whole')
    if (kind === 'whole') await sendWhole(exchange, request)
    else await sendStream(exchange, request, kind === 'bytes' ? BYTES_WIRE : exchange.wire)
  }
  return { name, check, form, protocol, wire, serve }
}

const NONE: readonly string[] = []

/** Counts the tokens of prompts for upstreams that do not. */
const tokenCounter = (workers: CallServices['workers']): Handler => ({
  parameters: 'verbatim',
  async request(call) {
    const version = call.headers[VERSION_HEADER] ?? ''
    const foreign = call.large ? await workers.compute(call, refusedOfCount, version) : refusedOfCount.run(call, version)
    if (foreign !== undefined) throw unsupportedParameter(foreign.param, foreign.hint)
    const body = JSON.stringify({ input_tokens: await workers.countTokens(call) })
    return { status: 200, headers: { 'content-type': 'application/json', 'content-length': String(body.length) }, body: [body] }
  },
})

/** Sends the call to its upstreams, until the last byte of the reply, or of the last attempt. */
function dispatched(exchange: Exchange, request: DispatchRequest): Promise<Buffer | undefined> {
  const reply = dispatch(request, exchange)
  const isOver = (): void => {
    exchange.dispatching = undefined
  }
  exchange.dispatching = reply.then(isOver, isOver)
  return reply
}

async function sendWhole(exchange: Exchange, request: DispatchRequest): Promise<void> {
  const body = await dispatched(exchange, request)
  if (body !== undefined) exchange.reply = { kind: 'whole', body }
}

/** Resolves when the stream is committed, or when the client has waited so long that it needs a heartbeat. */
async function sendStream(exchange: Exchange, request: DispatchRequest, wire: ClientWire): Promise<void> {
  const stream = exchange.openStream(wire)
  const sent = dispatched(exchange, request)
  // If the head is out by then, it fails by an error frame.
  sent.catch((error: unknown) => exchange.fail(error))
  await Promise.race([stream.headDue, sent])
}

/** Refuses a call if no link has set a principal: without `auth`, no call is served. */
export function requirePrincipal({ principal }: Exchange): Principal {
  if (principal === undefined) throw new GatewayError('missing_api_key')
  return principal
}
