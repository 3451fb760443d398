import type { ServerResponse } from 'node:http'
import type { ParameterizedContext } from 'koa'
import type { Linked } from '../async/event-loop.ts'
import type { Config } from '../config/config.ts'
import { CLIENT_GONE } from '../dispatch/attempt.ts'
import type { DispatchedCall, RunningAttempt } from '../dispatch/dispatch.ts'
import { type Plan, traceOf } from '../dispatch/plan.ts'
import { Relay } from '../dispatch/relay.ts'
import { asGatewayError, GatewayError } from '../errors.ts'
import { type BudgetReservation, PriceUnknown } from '../limits/budgets.ts'
import { sumOfCosts } from '../limits/prices/price.ts'
import type { PriceList } from '../limits/prices/price-list.ts'
import { outcomeKind } from '../observe/call-log.ts'
import { ContractViolation, PluginFailure, pluginError } from '../plugins/faults.ts'
import { type ClientProtocol, type ClientWire, CONVERSATIONS, OPENAI_WIRE } from '../protocol/client-protocol.ts'
import { sumOfUsage, usageOf } from '../protocol/usage.ts'
import type { ChargedTokens } from '../protocol/usage-report.ts'
import type { RequestCheck } from '../protocol/validation.ts'
import type { ModelListing } from '../routing/listing.ts'
import type { Candidate, Route } from '../routing/route.ts'
import type { RoutingTable } from '../routing/table.ts'
import type {
  AttemptRecord,
  Call,
  ChatChunk,
  ChatCompletion,
  Cost,
  EndpointName,
  LinkRecord,
  ModelId,
  Outcome,
  Principal,
  ReplyTransform,
  RouteTrace,
  Served,
  Usage,
} from '../sdk/api.ts'
import type { CallTrace, Tracer } from '../telemetry/call-trace.ts'
import { newRequestId } from '../text/ids.ts'
import type { LinkTransform } from '../upstream/readers/reader.ts'
import type { CallJournal } from '../usage/call-journal.ts'
import { type BodyServices, CallBody } from './body.ts'
import { CallTimes } from './call-times.ts'

/** The generation of a call, held until `release`. */
export interface HeldGeneration {
  readonly table: RoutingTable
  readonly prices: PriceList
  readonly models: ModelListing
  readonly config: Pick<Config, 'budgets'>
  release(): void
}

/** A link of the call: its own time, and its async context, to which all belongs that its code starts. */
export interface RunningLink {
  /** The plugin's name. */
  readonly name: string
  /** `now`: monotonic milliseconds. */
  record(now: number): LinkRecord
  /** Calls code of the link in its context. */
  inside<Result>(work: () => Result): Result
  /** What code of the link makes while it is read. */
  itemsInside<Item>(items: Iterable<Item> | AsyncIterable<Item>): Iterable<Item> | AsyncIterable<Item>
  /** Calls code of the gateway, which the link has called. */
  outside<Result>(work: () => Result): Result
}

/** An endpoint of `/v1`, called by the chain. */
export interface Endpoint {
  readonly name: EndpointName
  /** The check of its request bodies. */
  readonly check: RequestCheck | 'no body'
  readonly form?: 'always' | 'maybe' | undefined
  /** How upstreams without the endpoint serve it, by chat completions. */
  readonly protocol?: ClientProtocol | undefined
  /** Absent: OpenAI's. */
  readonly wire?: ClientWire | undefined
  /** Serves a request. Resolves when the head of the reply may be sent: for a stream, possibly long before its end. */
  serve(exchange: Exchange, ctx: ParameterizedContext): Promise<void>
}

/** A function of a link that runs when its call is settled. */
export interface SettledHook {
  readonly link: RunningLink
  readonly fn: (outcome: Outcome) => void | Promise<void>
}

/** A function of a link that runs before an attempt that follows those which have used tokens. */
interface RetryHook {
  readonly link: RunningLink
  readonly fn: (used: Usage) => void | Promise<void>
}

/** Runs settled hooks, and reports what plugins do after the end of a call. */
export interface HookRunner {
  /** Undefined if the hook is synchronous. */
  run(hook: SettledHook, outcome: Outcome): Promise<void> | undefined
  /** A plugin failed after the call with this id was reported. */
  failedLate(id: string, failure: PluginFailure): void
}

/** What an attempt has used, and what it costs; undefined if that is not known. */
type AttemptCharge = ChargedTokens & { readonly cost: Cost | undefined }

/** An upstream bills what it has generated, also if its attempt failed and another one served the call. */
const sumOfCharges = (first: AttemptCharge, second: AttemptCharge): AttemptCharge => ({
  usage: sumOfUsage(first.usage, second.usage),
  estimated: first.estimated || second.estimated,
  isPromptEstimated: first.isPromptEstimated || second.isPromptEstimated,
  isUnfinished: first.isUnfinished || second.isUnfinished,
  cost: sumOfCosts(first.cost, second.cost),
})

const NO_HOOKS: readonly RetryHook[] = []

const BETA_HEADER = 'anthropic-beta'

/** The state of a reply after its end. */
export type SentReply = Pick<ServerResponse, 'statusCode' | 'writableFinished'>

/** What the client gets of a call that has not failed. */
export type Reply = { readonly kind: 'whole'; readonly body: Buffer } | { readonly kind: 'stream'; readonly stream: Relay }

/** The reply of a link instead of an upstream's. */
export interface LinkReply {
  readonly link: RunningLink
  readonly reply: ChatCompletion | Iterable<ChatChunk> | AsyncIterable<ChatChunk>
}

/** The services of an exchange at an endpoint of `/v1`. */
export interface ExchangeServices extends BodyServices {
  /** Milliseconds of silence in a stream before a comment is sent. */
  readonly heartbeat: number
  /** Where calls are noted as soon as their cost is known. */
  readonly journal?: CallJournal | undefined
  /** Absent: calls are not traced. */
  readonly tracer?: Tracer | undefined
}

/** How much of a stream has no line in the journal if its process is killed, in milliseconds. */
const NOTE_AGAIN_MS = 1000

/** How the connection of a call ended, at that moment. */
interface Closed {
  readonly kind: Outcome['kind']
  readonly status: number
  readonly error: GatewayError | undefined
}

/** One request and its reply: core's state of them, from the first byte until settled. */
export class Exchange implements DispatchedCall, Linked {
  previous: this | undefined
  next: this | undefined
  readonly id: string
  readonly tags: Record<string, string> = {}
  readonly upstreamHeaders: Record<string, string> = {}
  principal: Principal | undefined

  /** The request's endpoint of `/v1` and its generation; undefined if it reached no endpoint. */
  endpoint: Endpoint | undefined
  generation: HeldGeneration | undefined
  trace: CallTrace | undefined
  /** The route of the call's model; undefined before it is found. */
  route: Route | undefined

  /** The running link, to attribute replies and hooks. Set before the first link runs. */
  currentLink!: RunningLink
  /** The links that ran, outermost first. */
  readonly linkRuns: RunningLink[] = []
  /** Innermost link first: a reply passes the chain from inside to outside. */
  readonly transforms: LinkTransform[] = []
  readonly settledHooks: SettledHook[] = []
  #retryHooks: readonly RetryHook[] = NO_HOOKS
  linkReply: LinkReply | undefined

  /** The attempts that have ended. */
  readonly attempts: AttemptRecord[] = []
  served: Served | undefined
  /** Betas of Anthropic's: from a client of another protocol they reach no upstream, unless a link sends them. */
  #hasLostBetas = false
  /** Parameters that the provider dropped, for the reply's head. */
  dropped: readonly string[] = []
  /** The tokens to which a budget has capped the answer, for the reply's head. */
  cap: number | undefined
  /** The tokens of all attempts that used some, and what they cost. */
  charge: AttemptCharge | undefined
  /** What the call has reserved of the budgets of its caller. */
  budgetReservation: BudgetReservation | undefined

  /** Set once. */
  reply: Reply | undefined
  /** The call's failure. */
  failure: GatewayError | undefined
  /** Failures of plugins, whether they failed the call or not. */
  readonly pluginFailures: PluginFailure[] = []
  /** Removes the call from the in-flight metric. */
  onClosed: (() => void) | undefined

  readonly times = new CallTimes()
  plan: Plan | undefined
  running: RunningAttempt | undefined
  /** Resolves when the call no longer uses any upstream; undefined if it uses none. */
  dispatching: Promise<void> | undefined
  /** Milliseconds of the last wait. */
  #servedMs = 0
  #services: ExchangeServices | undefined
  #requestBody: CallBody | undefined
  /** When the journal has last noted the attempt under way, in monotonic milliseconds; undefined if it never has. */
  #notedAt: number | undefined
  #isDecided = false
  readonly #abort = new AbortController()
  #closed: Closed | undefined
  #hookRunner: HookRunner | undefined
  #outcome: Outcome | undefined

  constructor(id = newRequestId()) {
    this.id = id
  }

  /** Starts the request's call to an endpoint. */
  begin(endpoint: Endpoint, generation: HeldGeneration, ctx: ParameterizedContext, services: ExchangeServices): void {
    this.endpoint = endpoint
    this.generation = generation
    this.#services = services
    this.#requestBody = new CallBody(this, ctx, services)
    this.#hasLostBetas = ctx.req.headers[BETA_HEADER] !== undefined && endpoint.protocol?.headers.includes(BETA_HEADER) !== true
    this.trace = services.tracer?.begin(ctx.req.headers)
  }

  get endpointName(): Outcome['endpoint'] {
    return this.endpoint?.name ?? 'none'
  }

  /** What the client gets from the gateway itself. */
  get wire(): ClientWire {
    return this.endpoint?.wire ?? OPENAI_WIRE
  }

  /** Aborted when the call must end, with the reason: its client has gone, its time is over, a link or the gateway ends it. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  abort(reason: GatewayError): void {
    this.#abort.abort(reason)
  }

  /** The reply is complete, or the client disconnected. */
  get closed(): boolean {
    return this.#closed !== undefined
  }

  get stream(): Relay | undefined {
    return this.reply?.kind === 'stream' ? this.reply.stream : undefined
  }

  /** The requested model; undefined if the body is unread or has none. */
  get model(): ModelId | undefined {
    try {
      return this.#requestBody?.call?.model
    } catch {
      return undefined
    }
  }

  /** Reads and checks the body on the first call. Rejects with a GatewayError (408) once the call is released. */
  call(): Promise<Call> {
    return this.#requestBody?.read() ?? Promise.reject(new GatewayError('request_timeout'))
  }

  /** Milliseconds between two monotonic times in which the call's body was being read. */
  readingMs(from: number, to: number): number {
    return this.#requestBody?.readingMs(from, to) ?? 0
  }

  /** Sets the link's own reply. */
  replyWith(reply: LinkReply['reply']): void {
    if (this.#isDecided || this.failure !== undefined) throw new ContractViolation('SEND_AFTER_NEXT')
    if (this.endpoint?.check === 'no body') throw new ContractViolation('NO_BODY')
    this.linkReply = { link: this.currentLink, reply }
  }

  transform(transform: ReplyTransform): void {
    if (this.#isDecided || this.failure !== undefined) throw new ContractViolation('TRANSFORM_AFTER_NEXT')
    // Other endpoints reply with neither completions nor chunks.
    if (!CONVERSATIONS.has(this.endpointName)) return
    const link = this.currentLink
    const { chunk, completion } = transform
    this.transforms.unshift({
      link: link.name,
      transform: {
        ...(chunk && { chunk: (each) => link.inside(() => chunk.call(transform, each)) }),
        ...(completion && { completion: (whole) => link.inside(() => completion.call(transform, whole)) }),
      },
    })
  }

  /** From now on links can no longer change the call or choose its upstream or reply. */
  decide(): void {
    this.#isDecided = true
    this.#requestBody?.decide()
  }

  enterLink(run: RunningLink): void {
    this.currentLink = run
    this.linkRuns.push(run)
  }

  onSettled(fn: SettledHook['fn']): void {
    const hook = { link: this.currentLink, fn }
    // A link may still run when its disconnected call is settled.
    if (this.#hookRunner === undefined) this.settledHooks.push(hook)
    else void this.#hookRunner.run(hook, this.#outcome!)
  }

  onRetry(fn: RetryHook['fn']): void {
    this.#retryHooks = [...this.#retryHooks, { link: this.currentLink, fn }]
  }

  /** How the call was routed; of a call that was refused before its first target was chosen, its route. */
  get routeTrace(): RouteTrace | undefined {
    if (this.plan !== undefined) return traceOf(this.plan)
    if (this.route === undefined) return undefined
    const unpriced = this.failure instanceof PriceUnknown ? this.failure.targets : []
    const skipped = unpriced.map((target) => ({ target, why: 'price_unknown' as const }))
    return { route: this.route.id, skipped, parameters: {} }
  }

  /** Opens the stream to the client. */
  openStream(wire = this.wire): Relay {
    const stream = new Relay(this.#services!.heartbeat, wire)
    this.reply = { kind: 'stream', stream }
    return stream
  }

  waits(): void {
    this.trace?.begins(this.upstreamHeaders)
    this.times.waits()
  }

  mayAttempt(candidate: Candidate): Promise<GatewayError | undefined> | undefined {
    // Attempts that have used nothing are not paid for.
    return this.charge === undefined ? undefined : this.#payFor(candidate, this.charge)
  }

  /** Resolves to the refusal if what is left of a limit does not pay for an attempt after those that have used tokens. */
  async #payFor(candidate: Candidate, { usage, cost }: AttemptCharge): Promise<GatewayError | undefined> {
    try {
      await this.budgetReservation?.extend(candidate, cost)
    } catch (error) {
      return asGatewayError(error)
    }
    for (const { link, fn } of this.#retryHooks) {
      try {
        await link.inside(() => fn(usage))
      } catch (thrown) {
        return pluginError(link.name, 'handle', thrown)
      }
    }
    return undefined
  }

  attempted(record: AttemptRecord, tokens: ChargedTokens | undefined, call: Call): void {
    this.running = undefined
    this.attempts.push(record)
    this.times.waited()
    this.trace?.ended(tokens !== undefined)
    if (tokens !== undefined) this.charge = this.#chargedWith(record, tokens, call)
    // Also to replace the estimate of an attempt that in the end used none.
    const journal = this.#services?.journal
    if (tokens !== undefined || this.#notedAt !== undefined) journal?.note(this, record)
    // Before the client has the end of its stream.
    if (this.stream !== undefined && record.result === 'ok') journal?.flush()
  }

  /** Notes what the attempt under way would be charged if this process were killed at `now`: again after a second, until it ends. */
  noteAttempt(now: number): void {
    if (this.#notedAt !== undefined && now - this.#notedAt < NOTE_AGAIN_MS) return
    const cut = this.running?.cutOff(now)
    if (cut === undefined) return
    this.#notedAt = now
    const { record, tokens, call } = cut
    this.#services?.journal?.note(this, record, this.#chargedWith(record, tokens, call))
  }

  /** The charge of the call so far, with that of an attempt. */
  #chargedWith(record: AttemptRecord, tokens: ChargedTokens, call: Call): AttemptCharge {
    const usage = this.#usageOf(record, tokens)
    const charge = { ...tokens, usage, cost: this.#costOf(record, usage, call, tokens.served) }
    return this.charge === undefined ? charge : sumOfCharges(this.charge, charge)
  }

  /**
   * Of an answer that broke off or was left, the upstream has read the whole prompt, and says nothing of it: a budget pays for the media in
   * it as reserved, and so for pictures and sound of which the upstream does not say what they have used. Upstreams that report no usage in a
   * complete text are estimated as ever.
   */
  #usageOf(record: AttemptRecord, { usage, isPromptEstimated, unreported }: ChargedTokens): Usage {
    const isPromptReserved = isPromptEstimated && record.result !== 'ok'
    if (!isPromptReserved && unreported === undefined) return usage
    const reserved = this.budgetReservation?.reservedFor(record)
    if (reserved === undefined) return usage
    const prompt = isPromptReserved ? Math.max(reserved.prompt, usage.prompt_tokens) : usage.prompt_tokens
    const isMadeReserved = unreported !== undefined && reserved.made > usage.completion_tokens
    const answer = isMadeReserved ? reserved.made : usage.completion_tokens
    return { ...usage, ...usageOf(prompt, answer, isMadeReserved ? unreported : undefined) }
  }

  #costOf(served: Served, usage: Usage, call: Call, variants: ChargedTokens['served']): Cost | undefined {
    const prices = this.generation?.prices
    return this.principal?.budgets === undefined
      ? prices?.costOf(served, usage, call, variants)
      : prices?.chargeOf(served, usage, call, variants)
  }

  servedBy(served: Served, dropped: readonly string[], cap: number | undefined): void {
    this.served = served
    this.dropped = this.#hasLostBetas && !Object.hasOwn(this.upstreamHeaders, BETA_HEADER) ? [...dropped, BETA_HEADER] : dropped
    this.cap = cap
    this.#servedMs = this.times.waited()
    if (this.stream !== undefined) this.times.streams()
  }

  /** The ended attempts, and the one that is streaming. */
  get attemptsSoFar(): readonly AttemptRecord[] {
    if (this.served === undefined || this.running === undefined) return [...this.attempts]
    return [...this.attempts, { ...this.served, result: 'ok', start: this.running.start, ms: this.#servedMs }]
  }

  /** Fails the call; the first error is kept. If its head is sent, a stream ends with an error frame. */
  fail(error: unknown): void {
    if (this.#closed !== undefined) return
    const failure = asGatewayError(error)
    const { cause } = failure
    if (cause instanceof PluginFailure && !this.pluginFailures.includes(cause)) this.pluginFailures.push(cause)
    this.failure ??= failure
    if (this.stream?.opened) this.stream.fail(failure)
  }

  /** A plugin has lost a promise: fails the call in any state, at once. After its end the failure is only reported. Returns the error. */
  lost(failure: PluginFailure): GatewayError {
    const error = new GatewayError('plugin_error', { cause: failure })
    if (this.#hookRunner !== undefined) this.#hookRunner.failedLate(this.id, failure)
    else {
      this.fail(error)
      this.abort(error)
    }
    return error
  }

  /** Called after the last byte or a disconnect: ends all running work, which is over when `dispatching` resolves. */
  close(response: SentReply): void {
    const disconnected = !response.writableFinished && this.failure === undefined
    this.#closed = {
      kind: disconnected ? 'client_closed' : outcomeKind(this.failure),
      status: disconnected ? 499 : response.statusCode,
      error: this.failure,
    }
    this.onClosed?.()
    this.stream?.close()
    this.abort(CLIENT_GONE)
  }

  /** What has come of a closed call, once no work runs. */
  get outcome(): Outcome {
    const now = performance.now()
    const { stream } = this
    return {
      ...this.#closed!,
      endpoint: this.endpointName,
      model: this.model,
      stream: this.#requestBody?.call?.stream ?? false,
      served: this.served,
      attempts: this.attempts,
      links: this.linkRuns.map((run) => run.record(now)),
      usage: this.charge?.usage,
      usageEstimated: this.charge?.estimated ?? false,
      cost: this.charge?.cost,
      times: {
        ...this.times.elapsed(),
        ...(stream?.firstByteAt !== undefined && { firstByte: stream.firstByteAt - this.times.startedAt }),
      },
    }
  }

  /** Hooks added from now on run immediately. (Fields, not a closure: V8 would retain an object that stores the closure.) */
  settled(hookRunner: HookRunner, outcome: Outcome): void {
    this.#hookRunner = hookRunner
    this.#outcome = outcome
  }

  /**
   * Called when all settled hooks have run: releases the generation, and the bytes of request and reply. The socket refers to its last
   * exchange: an idle connection would keep them in memory, and the garbage collector would promote them.
   */
  release(): void {
    this.generation?.release()
    this.#requestBody?.release()
    this.#requestBody = undefined
    this.plan = undefined
    this.reply = undefined
  }
}
