import { type CallStateStore, type DispatchRequest, dispatch } from '../dispatch/dispatch.ts'
import { checkReferences, profilesFor, toolFormsFor } from '../dispatch/serving.ts'
import { GatewayError } from '../errors.ts'
import { BackgroundReply } from '../kept/background-reply.ts'
import type { BudgetReservation, Budgets } from '../limits/budgets.ts'
import type { CallMetrics } from '../observe/call-metrics.ts'
import type { PluginTimer } from '../plugins/faults.ts'
import { ClientCall } from '../protocol/call.ts'
import { BYTES_WIRE, CONVERSATIONS } from '../protocol/client-protocol.ts'
import type { ModelEndpoint, ReplyFormat } from '../protocol/format.ts'
import { hostedTools } from '../protocol/hosted-tools.ts'
import { JsonBody } from '../protocol/json-body.ts'
import { ownKeeper } from '../protocol/kept-ids.ts'
import { refusedOfCount, VERSION_HEADER } from '../protocol/messages/version.ts'
import { prepareForms } from '../protocol/tool-forms.ts'
import { asSent, type CallWorkers, translationOf } from '../protocol/translation.ts'
import type { Handler } from '../routing/handler.ts'
import { type Candidate, candidatesOf, type Route } from '../routing/route.ts'
import type { Call, ChatChunk, EndpointName, Principal } from '../sdk/api.ts'
import { unsupportedParameter } from '../sdk/parameters.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import type { StreamSink } from '../upstream/readers/stream-sink.ts'
import type { ReplyThreads } from '../upstream/readers/whole.ts'
import type { BackgroundCalls } from './background-calls.ts'
import type { Endpoint, Exchange } from './exchange.ts'
import { type Output, StreamOutput, WholeOutput } from './output.ts'

/** The services of calls, apart from their generation. */
export interface CallServices {
  readonly calls: CallMetrics
  readonly upstreams: UpstreamClient
  readonly workers: CallWorkers & ReplyThreads & { countTokens(call: Call): Promise<number> }
  readonly plugins: PluginTimer
  readonly budgets: Budgets
  readonly callStates: CallStateStore
  readonly background: BackgroundCalls
}

/** An endpoint, by what its calls need that those of another do not. */
interface ServedEndpoint {
  readonly services: CallServices
  readonly format: ReplyFormat
  /** Whether its calls are charged to budgets. */
  readonly isCharged: boolean
  /** Whether its calls may ask for tools that the vendor runs. */
  readonly mayHaveHostedTools: boolean
  /** Serves the calls of upstreams that lack the endpoint. */
  readonly standIn: Handler | undefined
  /** Keeps the states of tool calls. Clients of other protocols than chat completions keep them as signatures. */
  readonly states: CallStateStore | undefined
}

/** The endpoint that sends calls of one format to the upstreams of their model. */
export function modelEndpoint(endpoint: ModelEndpoint, services: CallServices): Endpoint {
  const { name, check, form, reply: format, protocol, wire, keepsReplies, continues } = endpoint
  const counts = COUNTS.get(name)
  const served: ServedEndpoint = {
    services,
    format,
    isCharged: counts === undefined,
    mayHaveHostedTools: CONVERSATIONS.has(name),
    standIn: counts && tokenCounter(services.workers, counts),
    states: name === 'chat.completions' ? services.callStates : undefined,
  }
  return { name, check, form, protocol, wire, keepsReplies, continues, serve: (exchange) => serve(exchange, served) }
}

/** How the gateway counts the tokens of prompts at an endpoint. */
interface Count {
  /** What the reply has beside the count. */
  readonly members: object
  /** Absent: it counts requests as clients send them. Those of the Responses API may refer to what only its upstream has. */
  readonly takes?: () => false
}

/** The endpoints that count the tokens of prompts. */
const COUNTS: ReadonlyMap<EndpointName, Count> = new Map<EndpointName, Count>([
  ['messages.count_tokens', { members: {} }],
  ['responses.input_tokens', { members: { object: 'response.input_tokens' }, takes: () => false }],
])

/** A call whose route is known. */
interface RoutedCall {
  readonly call: Call
  readonly principal: Principal
  readonly route: Route
  /** All targets that may serve it. */
  readonly candidates: readonly Candidate[]
}

/**
 * Serves one call: who calls, what, by which route, at what cost; then its upstreams. Resolves when the head of the reply may be sent.
 *
 * An error on the way becomes the reply (`Exchange.fail`). The head is sent when all links have returned, so a link that throws, also after its
 * `next()`, always gets its error in place of the reply; the upstream is aborted as soon as that error is sent, and what it has made is
 * charged. Only dispatch and background work of a link fail later than the head: then the error is the last event of the stream. If the
 * client leaves, or the gateway stops, `exchange.signal` ends whatever the call waits for.
 */
async function serve(exchange: Exchange, endpoint: ServedEndpoint): Promise<void> {
  const { signal } = exchange
  const attempts = exchange.attempts!
  const { transforms } = exchange.links!
  // Held until the call is settled: a reload in the middle is for later calls. Health, limits and connections are shared with those.
  const { table } = exchange.generation!

  const principal = requirePrincipal(exchange)
  if (exchange.turn?.refusal !== undefined) throw exchange.turn.refusal
  const call = await exchange.call()
  exchange.decide()
  attempts.trace?.capture(call, transforms)

  const route = table.route(call.model, principal)
  attempts.route = route
  if (exchange.turn?.generates === false) return sendNothing(exchange, call, principal)
  checkReferences(route, call)
  const routed: RoutedCall = { call, principal, route, candidates: candidatesOf(route.leads) }

  const isCharged = endpoint.isCharged && principal.budgets !== undefined
  const tools = mayRefuseTools(routed, isCharged, endpoint) ? await hostedToolsOf(call, endpoint) : NONE
  const budget = isCharged ? await reserve(exchange, routed, tools, endpoint) : undefined

  signal.throwIfAborted()
  exchange.onClosed = endpoint.services.calls.started(call.model.namespace)
  // A reply that links change must pass them as a chat completion.
  if (transforms.length > 0) translationOf(call)?.needChat()
  if (call.large) await prepare(routed, endpoint)
  signal.throwIfAborted()

  const begun = outputOf(call, exchange, endpoint)
  const output = begun instanceof Promise ? await begun : begun
  const reply = dispatch(requestFor(exchange, routed, { tools, budget, stream: output.sink, endpoint }), attempts)
  exchange.dispatching = reply
  await output.send(reply)
}

/** The response of a turn without an answer. */
function sendNothing(exchange: Exchange, call: Call, { account }: Principal): void {
  const writer = translationOf(call)!.repliesTo(call, ownKeeper(account)).writer()
  const stream = exchange.openStream()
  stream.attach({ pause: () => undefined, resume: () => undefined }, 'utf8')
  stream.push(writer.write({ ...NO_ANSWER, created: Math.floor(Date.now() / 1000), model: call.model.id }), true)
  stream.commit()
  stream.end(writer.end())
  stream.finish()
}

const NO_ANSWER = {
  id: '',
  object: 'chat.completion.chunk',
  choices: [],
  usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
} as const satisfies Partial<ChatChunk>

const NONE: readonly string[] = []

/** Refuses a call if no link has set a principal: without `auth`, no call is served. */
export function requirePrincipal({ principal }: Exchange): Principal {
  if (principal === undefined) throw new GatewayError('missing_api_key')
  return principal
}

const mayRefuseTools = ({ candidates }: RoutedCall, isCharged: boolean, { mayHaveHostedTools }: ServedEndpoint): boolean =>
  mayHaveHostedTools && (isCharged || candidates.some(({ target }) => target.hostedTools !== undefined))

/** The tools of a call that its vendor runs. */
function hostedToolsOf(call: Call, { services }: ServedEndpoint): Promise<readonly string[]> | readonly string[] {
  const sent = asSent(call)
  return sent.large ? services.workers.compute(sent, hostedTools, undefined) : hostedTools.run(sent, undefined)
}

/**
 * Reserves the most that a call may cost of each budget of its caller. What the authority of limits has lent to this process is its own,
 * whatever others spend meanwhile. If it is too little, the authority is asked: it calls back what other processes do not use, and if they have
 * spent the rest, a call without a cap gets a lower one, or the call is refused. If attempts have used tokens and failed, a further one asks
 * for what is missing (`DispatchedCall.mayAttempt`); where that is refused, the client gets `budget_exhausted` and not the upstream's error.
 */
async function reserve(
  exchange: Exchange,
  { call, principal, candidates }: RoutedCall,
  tools: readonly string[],
  { services }: ServedEndpoint,
): Promise<BudgetReservation | undefined> {
  const { prices, config } = exchange.generation!
  const hasHostedTools = tools.length > 0
  const budgeted = { call, principal, candidates, prices, settings: config.budgets, hasHostedTools }
  const budget = await services.budgets.reserve(budgeted)
  // Its client has left meanwhile, and the call is settled.
  if (exchange.closed) budget?.settle({})
  else exchange.attempts!.charge.payBy(budget)
  return budget
}

/** Translates a large call in a thread, into the forms that its candidates may take. */
async function prepare({ call, candidates }: RoutedCall, { services, standIn }: ServedEndpoint): Promise<void> {
  const { workers } = services
  if (standIn === undefined || standIn.takes !== undefined)
    await translationOf(call)?.prepare(call, profilesFor(candidates, call), workers)
  const body = ClientCall.bodyOf(call)
  if (body instanceof JsonBody && body.hasToolForms) await prepareForms(call, body, toolFormsFor(candidates, call), workers)
}

/** Where the reply goes: a kept one in the background is for a client that has left. */
function outputOf(call: Call, exchange: Exchange, { format, services }: ServedEndpoint): Output | Promise<Output> {
  const { kept } = ClientCall.bodyOf(call).client
  if (kept instanceof BackgroundReply) return services.background.begin(exchange, call, kept)
  const kind = format.kind?.(call) ?? (call.stream ? 'events' : 'whole')
  if (kind === 'whole') return new WholeOutput(exchange)
  return new StreamOutput(exchange, kind === 'bytes' ? BYTES_WIRE : exchange.wire)
}

interface DispatchTerms {
  readonly tools: readonly string[]
  readonly budget: BudgetReservation | undefined
  readonly stream: StreamSink | undefined
  readonly endpoint: ServedEndpoint
}

function requestFor(
  exchange: Exchange,
  { call, principal, route }: RoutedCall,
  { tools, budget, stream, endpoint }: DispatchTerms,
): DispatchRequest {
  const { table } = exchange.generation!
  const { services, format, standIn, states } = endpoint
  return {
    call,
    route,
    format,
    stream,
    transforms: exchange.links!.transforms,
    standIn,
    states,
    client: services.upstreams,
    threads: services.workers,
    timer: services.plugins,
    receivedAt: exchange.times.startedAt,
    nearest: (name) => table.nearest(name, principal),
    selection: {
      key: principal.keyId,
      account: principal.account,
      headers: exchange.headers,
      mayCall: (id) => table.mayCallNamed(id, principal),
      random: Math.random,
      terms: { hostedTools: tools, capFor: budget && ((candidate) => budget.capFor(candidate)) },
    },
  }
}

/** Counts the tokens of prompts for upstreams that do not. */
const tokenCounter = (workers: CallServices['workers'], { members, takes }: Count): Handler => ({
  parameters: 'verbatim',
  ...(takes && { takes }),
  async request(call) {
    const version = call.headers[VERSION_HEADER] ?? ''
    const foreign = call.large ? await workers.compute(call, refusedOfCount, version) : refusedOfCount.run(call, version)
    if (foreign !== undefined) throw unsupportedParameter(foreign.param, foreign.hint)
    const body = JSON.stringify({ ...members, input_tokens: await workers.countTokens(call) })
    return { status: 200, headers: { 'content-type': 'application/json', 'content-length': String(body.length) }, body: [body] }
  },
})
