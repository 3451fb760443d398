import { setTimeout as delay } from 'node:timers/promises'
import { unlessAborted } from '../async/abort.ts'
import { Deadlines, type Expiring } from '../async/event-loop.ts'
import { asGatewayError, GatewayError } from '../errors.ts'
import { type LimitAnswer, LimitShare } from '../limits/namespace-limits.ts'
import type { PluginTimer } from '../plugins/faults.ts'
import { ClientCall } from '../protocol/call.ts'
import { chatReply } from '../protocol/chat-completions.ts'
import type { ReplyFormat } from '../protocol/format.ts'
import type { Keeper } from '../protocol/kept-ids.ts'
import type { ChargedTokens } from '../protocol/usage-report.ts'
import { servedWithout } from '../protocol/variants.ts'
import { ANYONE } from '../routing/cooldown.ts'
import type { Handler } from '../routing/handler.ts'
import type { Probes } from '../routing/health.ts'
import type { Candidate, Route } from '../routing/route.ts'
import { type AttemptRecord, type Call, type CallStates, type Served, UpstreamError } from '../sdk/api.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import { timeoutError } from '../upstream/failures.ts'
import type { LinkTransform } from '../upstream/readers/reader.ts'
import type { StreamSink } from '../upstream/readers/stream-sink.ts'
import type { ReplyThreads } from '../upstream/readers/whole.ts'
import { type AttemptEnd, type KeptStates, UpstreamAttempt } from './attempt.ts'
import {
  after,
  begin,
  choose,
  errorOf,
  isRenewable,
  note,
  type Plan,
  type PlannedAttempt,
  type SelectionContext,
  type Setback,
  skippedOf,
} from './plan.ts'
import { policyFor } from './retry.ts'
import { keeperOf, keptCall } from './serving.ts'

/** A call to send to an upstream. */
export interface DispatchRequest {
  readonly call: Call
  readonly route: Route
  readonly selection: SelectionContext
  /** A model that the caller may call, with a name like one that an upstream does not know. */
  readonly nearest?: (name: string) => string | undefined
  readonly format: ReplyFormat
  /** Takes the events of the reply, whichever attempt they are of; undefined for a whole reply. */
  readonly stream?: StreamSink | undefined
  /** What links change in the reply. */
  readonly transforms: readonly LinkTransform[]
  /** Serves the calls of an endpoint that a provider lacks. */
  readonly standIn?: Handler | undefined
  readonly client: UpstreamClient
  /** Reads large replies. */
  readonly threads: ReplyThreads
  readonly timer: PluginTimer
  /** Keeps the states of tool calls. Absent: of this endpoint there are none, or its clients keep them. */
  readonly states?: CallStateStore | undefined
  /** When the client's request arrived, in monotonic milliseconds. */
  readonly receivedAt: number
}

/** Keeps what upstreams want back with the results of tool calls. */
export interface CallStateStore {
  /** Never rejects because they are lost. */
  recall(call: Call, keeper: Keeper): Promise<CallStates>
  keep(call: Call, keeper: Keeper, states: CallStates): void
}

/** The call's own side: what it is told of its attempts, and what they need of it. */
export interface DispatchedCall {
  /** Aborted when the call must end, with `CLIENT_GONE` or its error as the reason. */
  readonly signal: AbortSignal
  /** Ends the call: aborts its signal. */
  end(reason: GatewayError): void
  /** The plan so far. */
  plan: Plan | undefined
  /** The attempt under way. */
  running: RunningAttempt | undefined
  /** The attempts that have ended. */
  readonly ended: readonly AttemptRecord[]
  /** An attempt, or the wait for one, begins. */
  beginAttempt(): void
  /** Asks whether the limits of the caller pay for one more attempt. Returns, or resolves to, undefined if they do; else the error of the call. */
  mayAttempt(candidate: Candidate): Promise<GatewayError | undefined> | undefined
  /**
   * An attempt ended, also one whose connection was stale. `tokens`: undefined if no upstream accepted the call. `call`: as the upstream got
   * it. Not called for an attempt whose provider cannot make the request.
   */
  attempted(record: AttemptRecord, tokens: ChargedTokens | undefined, call: Call): void
  /**
   * The reply is complete, or its stream is committed. `dropped`: parameters that the provider left out. `cap`: the tokens to which a budget
   * has capped the answer.
   */
  servedBy(served: Served, dropped: readonly string[], cap: number | undefined): void
}

/** An attempt under way. */
export interface RunningAttempt {
  /** Milliseconds since the request arrived. */
  readonly start: number
  /** What is recorded and charged if the process is killed at `now`; undefined if that is nothing. */
  cutOff(now: number): { readonly record: AttemptRecord; readonly tokens: ChargedTokens; readonly call: Call } | undefined
}

/**
 * Sends a call to the targets of its route, one attempt after the other, until one serves it. Resolves to the body of a whole reply; to
 * undefined when a stream has ended, or when the client has left during an attempt. Rejects with the error of the call: that of the last
 * attempt, of a committed stream that broke, of a caller who cannot pay for another attempt, or the reason why no attempt was possible. If the
 * client leaves while the call waits for an attempt, it rejects too, and nobody gets that error.
 *
 * Until an attempt has served the call, or its stream is committed, the client has had nothing of it but a head and heartbeats. A stream is
 * committed by its first event with content; that of the last possible attempt, by any event. A target that stalls before fails its attempt
 * by a time limit of the candidate (`timeouts`: until connected, until the first byte, between two bytes) and is not asked again, but the next
 * target may be. Bytes without content, such as an upstream's comments, are no stall: only the time of the whole call ends those.
 */
export async function dispatch(request: DispatchRequest, of: DispatchedCall): Promise<Buffer | undefined> {
  const { route, call, selection, standIn } = request
  const until = performance.now() + route.total
  using _timeout = new TotalTimeout(until, of)
  let plan = begin(route, call, selection, performance.now(), standIn)
  try {
    for (;;) {
      const now = performance.now()
      const choice = choose(plan, now, until)
      plan = of.plan = choice.plan
      const { next } = choice
      if (next === undefined) throw errorOf(plan, now)
      note(next, now)
      // Every wait in it listens to the signal: once that is aborted, the setback is the end of the call.
      const result = await tryTarget(next, request, of, until).catch((error: unknown) => setbackOf(error, of.signal))
      if (result.kind === 'served') return result.body
      if (result.kind === 'lost') throw result.error
      // What follows is in plan.ts (`afterFailure`), by the table in retry.ts. A refused credential (401, 429, an empty quota) is renewed if
      // its provider can; then the next ready one of its namespace follows, without a pause and as the same attempt; then the next target.
      plan = after(plan, result, performance.now())
    }
  } finally {
    for (const { target, why } of skippedOf(plan)) target.upstream.skipped(why)
  }
}

/** The result of a planned attempt. `lost`: the call fails, since its committed stream broke, or since its caller cannot pay for the attempt. */
type Result =
  | Setback
  | { readonly kind: 'served'; readonly body: Buffer | undefined }
  | { readonly kind: 'lost'; readonly error: GatewayError }

/** Takes what an attempt needs, and makes it. Gives back what it took when the attempt has ended: that of a stream, with its last byte. */
async function tryTarget(next: PlannedAttempt, request: DispatchRequest, of: DispatchedCall, until: number): Promise<Result> {
  const { signal } = of
  const { upstream, health } = next.candidate.target
  of.beginAttempt()
  if (next.pauseMs > 0) await delay(next.pauseMs, undefined, { signal })
  // What failed attempts, and other calls meanwhile, have used may leave too little of the caller's limits for another one.
  const asked = of.mayAttempt(next.candidate)
  const unpaid = asked && (await unlessAborted(asked, signal))
  if (unpaid !== undefined) return { kind: 'lost', error: unpaid }
  const taken = takeShare(next, until, signal)
  const answer = taken instanceof Promise ? await taken : taken
  if (answer !== undefined && !(answer instanceof LimitShare)) return { kind: 'limited', reached: answer }
  using share = answer
  using _place = upstream.limiter.tryAcquire() ?? (await upstream.limiter.acquire(signal))
  if (signal.aborted) return { kind: 'ended', error: asGatewayError(signal.reason) }
  // The circuit breaker may have opened while the call waited: after an attempt, for a limit or for a place.
  if (health.availability(performance.now(), request.selection.account) === 'open') return { kind: 'open' }
  let end = await makeAttempt(next, request, of, false)
  // The upstream has not seen the request. For the plan a new connection is the same attempt; for the call's record it is one more.
  if (end.isStale && !signal.aborted) {
    of.beginAttempt()
    end = await makeAttempt(next, request, of, true)
  }
  if (end.wasSent) share?.settle(end.tokens)
  if (end.error === undefined) return { kind: 'served', body: end.body }
  if (end.isCommitted) return { kind: 'lost', error: end.error }
  // A vendor may no longer take states of tool calls that it has made: the call is made again without them.
  return { kind: 'failed', error: end.error, statesRefused: end.mayHaveRefusedStates, mayDiffer: mayDiffer(next, end.error) }
}

/** Takes of the limits of the namespace; undefined if it has none. */
function takeShare(
  { call, candidate, limited }: PlannedAttempt,
  until: number,
  signal: AbortSignal,
): LimitAnswer | Promise<LimitAnswer> | undefined {
  const { limits } = candidate.target.upstream
  if (limits === undefined || limited === undefined) return limits?.take(call, signal)
  const waiting = limits.wait(call, limited, Math.min(limited.waitMs, until - performance.now()), signal)
  // A call that times out has waited in vain.
  return waiting.catch((error: unknown) => {
    if (error instanceof GatewayError && error.row === 'upstream_timeout') return limited
    throw error
  })
}

/** Makes one attempt. Resolves when it has ended and is recorded; a stream is ended then too. `fresh`: on a new connection. */
async function makeAttempt(
  next: PlannedAttempt,
  request: DispatchRequest,
  of: DispatchedCall,
  fresh: boolean,
): Promise<AttemptEnd> {
  const { candidate, handler, call, translation, ownTools, credential, credentialRefused, withoutStates, hold } = next
  const { target, timeouts, strict } = candidate
  const { account } = request.selection
  const { stream, transforms } = request
  const served = credential === undefined ? target.served : { ...target.served, credential: credential.name }
  const startedAt = performance.now()
  const start = startedAt - request.receivedAt
  const recordOf = (result: AttemptEnd['result'], now: number, error?: GatewayError): AttemptRecord => ({
    ...served,
    result,
    start,
    ms: now - startedAt,
    ...refusedWith(error),
  })
  const probes = target.health.begin(account)
  if (credential !== undefined) target.upstream.credentials!.begin(credential)
  const attempt = new UpstreamAttempt({
    call,
    served: target.served,
    handler,
    number: of.ended.length + 1,
    credentialRefused,
    strict,
    format: formatOf(next, request),
    replies: translation?.repliesTo(request.call, keeperOf(target, account, credential)),
    states: handler.takesCallStates ? statesAt(next, request) : undefined,
    withoutStates,
    limits: timeouts,
    stream,
    transforms:
      ownTools === undefined ? transforms : [...ownTools.map((make) => ({ link: OWN_TOOLS, transform: make() })), ...transforms],
    passedThrough: target.passedThrough ? call.model.id : undefined,
    nearest: request.nearest,
    hold,
    fresh,
    threads: request.threads,
    timer: request.timer,
    signal: of.signal,
    onCommitted: () => of.servedBy(served, droppedBy(next, attempt), next.cap),
  })
  of.running = {
    start,
    cutOff(now) {
      const tokens = attempt.tokensSoFar
      return tokens && { record: recordOf('process_killed', now), tokens: asServed(tokens, next, attempt), call }
    },
  }
  const end = await attempt.run(target.client ?? request.client)
  of.running = undefined
  target.health.end(probes)
  if (credential !== undefined) target.upstream.credentials!.end(credential)
  const { result, error, tokens } = end
  if (result === 'unsupported_parameter') return end
  const now = performance.now()
  if (!end.isStale) recordHealth(next, end, { now, startedAt, probes, account })
  of.attempted(recordOf(result, now, error), tokens && asServed(tokens, next, attempt), call)
  if (result === 'ok') {
    if (!end.isCommitted) of.servedBy(served, droppedBy(next, attempt), next.cap)
    const written = ClientCall.bodyOf(request.call).client.kept?.written
    if (written !== undefined) await written
    stream?.finish()
  }
  return end
}

/** How the reply is read: as the client's protocol has it, or as a chat completion. */
function formatOf({ call, candidate, credential, translation }: PlannedAttempt, request: DispatchRequest): ReplyFormat {
  const { format, selection } = request
  if (translation !== undefined) return chatReply
  const keeper = keeperOf(candidate.target, selection.account, credential)
  return format.keptBy?.(keptCall(request.call, keeper), call) ?? format
}

/** Where the gateway keeps the states of tool calls for the client. */
function statesAt(
  { candidate, credential }: PlannedAttempt,
  { states, call, selection }: DispatchRequest,
): KeptStates | undefined {
  if (states === undefined || !candidate.target.keepReasoning) return undefined
  const keeper = keeperOf(candidate.target, selection.account, credential)
  return {
    recall: () => states.recall(call, keeper),
    keep: (found) => states.keep(call, keeper, found),
  }
}

/** The tokens of an attempt, with the usual service in place of one that the provider has not asked for. */
function asServed(tokens: ChargedTokens, { dropped }: PlannedAttempt, { dropped: late }: UpstreamAttempt): ChargedTokens {
  if (dropped.length === 0 && late.length === 0) return tokens
  return { ...tokens, served: servedWithout([...dropped, ...late], tokens.served) }
}

/** The status with which an upstream refused a call, if it did. */
const refusedWith = (error: GatewayError | undefined): { readonly status: number } | undefined =>
  error?.cause instanceof UpstreamError ? { status: error.cause.refusal.status } : undefined

/** All parameters that the provider left out, by the client's names. */
function droppedBy({ dropped, translation }: PlannedAttempt, { dropped: late }: UpstreamAttempt): readonly string[] {
  if (late.length === 0) return dropped
  return [...new Set([...dropped, ...late.map((name) => translation?.protocol.namesOf[name] ?? name)])]
}

interface AttemptTimes {
  readonly now: number
  readonly startedAt: number
  readonly probes: Probes
  readonly account: string
}

/** Records the result in the target's health. A disconnected client or an invalid request does not count against the target. */
function recordHealth(next: PlannedAttempt, end: AttemptEnd, { now, startedAt, probes, account }: AttemptTimes): void {
  const { health, upstream } = next.candidate.target
  const { result, error, heardAt = now } = end
  if (result === 'ok' || error?.fault === 'caller') {
    health.succeeded(now, heardAt - startedAt, probes, account)
    return
  }
  if (error === undefined) return
  const { failed, cooldownMs, forAll, ofCredential } = policyFor(error)
  if (error.fault === 'upstream' && !isRenewable(next, error)) health.failedBy(now, { row: error.row, ...refusedWith(error) })
  if (failed) health.failed(now, failed, probes, account)
  if (cooldownMs === undefined || isRenewable(next, error)) return
  const { credential } = next
  // Of several credentials only the refused one cools down, and the target while none is ready.
  const isOneOfSeveral = ofCredential && credential !== undefined
  const whose = forAll ? ANYONE : account
  const ms = isOneOfSeveral ? upstream.credentials!.coolDown(credential, now, cooldownMs, whose) : cooldownMs
  health.coolDown(now, ms, whose)
}

/** Whether the provider has learned from the refusal of a chat completion to make the attempt in another way. */
function mayDiffer({ candidate, credential, call, handler }: PlannedAttempt, { cause }: GatewayError): boolean {
  const { provider } = credential ?? candidate.target
  if (handler !== provider || !(cause instanceof UpstreamError)) return false
  return provider.chatBy?.(call, candidate.target.served.model, cause.refusal) !== undefined
}

/** The setback of an attempt that came to nothing: the end of the call, if it was aborted meanwhile. */
const setbackOf = (error: unknown, { aborted, reason }: AbortSignal): Setback =>
  aborted ? { kind: 'ended', error: asGatewayError(reason) } : { kind: 'failed', error: asGatewayError(error) }

/** In place of the name of a link. */
const OWN_TOOLS = 'own-tools'

/** By how many milliseconds the end of the time of a call may be late. */
const TOLERANCE_MS = 20

const deadlines = new Deadlines<TotalTimeout>(TOLERANCE_MS)

/** Ends a call whose time is over. */
class TotalTimeout implements Expiring, Disposable {
  previous: this | undefined
  next: this | undefined
  /** Of all attempts together. */
  deadline: number
  readonly #call: Pick<DispatchedCall, 'end'>

  constructor(deadline: number, call: Pick<DispatchedCall, 'end'>) {
    this.deadline = deadline
    this.#call = call
    deadlines.add(this)
  }

  onDeadline(): void {
    this.deadline = Number.POSITIVE_INFINITY
    this.#call.end(timeoutError('total'))
  }

  [Symbol.dispose](): void {
    deadlines.remove(this)
  }
}
