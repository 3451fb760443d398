import { Deadlines, type Expiring } from '../async/event-loop.ts'
import { type Pause, pause, pauseUntil } from '../async/pause.ts'
import { GatewayError } from '../errors.ts'
import type { PluginTimer } from '../plugins/faults.ts'
import { keptCall } from '../protocol/call-forms.ts'
import { chatReply } from '../protocol/chat-completions.ts'
import type { ReplyFormat } from '../protocol/format.ts'
import type { Keeper } from '../protocol/kept-ids.ts'
import type { ChargedTokens } from '../protocol/usage-report.ts'
import { servedWithout } from '../protocol/variants.ts'
import { type AttemptRecord, type Call, type CallStates, type RouteTrace, type Served, UpstreamError } from '../sdk/api.ts'
import { type KeptStates, UpstreamAttempt } from '../upstream/attempt.ts'
import type { AttemptEnd, AttemptListener } from '../upstream/attempt-listener.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import { timeoutError } from '../upstream/failures.ts'
import type { LinkTransform } from '../upstream/readers/reader.ts'
import type { StreamSink } from '../upstream/readers/stream-sink.ts'
import type { ReplyThreads } from '../upstream/readers/whole.ts'
import { AttemptPlanner, isRenewable, type PlannedAttempt, type SelectionContext } from './attempt-planner.ts'
import { ANYONE } from './cooldown.ts'
import type { Credential } from './credentials.ts'
import { NO_PROBES } from './health.ts'
import { type LimitAnswer, type LimitReached, LimitShare } from './limit-share.ts'
import type { Operation } from './operation.ts'
import { policyFor } from './retry.ts'
import type { Candidate, Route, Target } from './route.ts'
import { keeperOf } from './serving.ts'

/** A call to send to an upstream. */
export interface DispatchRequest {
  readonly call: Call
  readonly route: Route
  readonly selection: SelectionContext
  /** A model that the caller may call, with a name like one that an upstream does not know. */
  readonly nearest?: (name: string) => string | undefined
  readonly format: ReplyFormat
  /** Serves the calls of an endpoint that a provider lacks. */
  readonly standIn?: Operation
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

/** Receives the reply of a call and the progress of its attempts. */
export interface DispatchListener {
  readonly transforms: readonly LinkTransform[]
  /** Takes the stream; undefined for a whole reply. */
  readonly stream: StreamSink | undefined
  /** An attempt, or the wait for one, begins. */
  onWait(): void
  /**
   * Whether the limits of the caller pay for an attempt in addition to those before: undefined, or resolves to undefined, if they do, and else
   * to the error with which the call ends.
   */
  mayAttempt(candidate: Candidate): Promise<GatewayError | undefined> | undefined
  /** An attempt ended: called once for each. `tokens`: undefined if no upstream accepted the call. `call`: as the upstream got it. */
  onAttemptEnded(record: AttemptRecord, tokens: ChargedTokens | undefined, call: Call): void
  /**
   * The reply is complete, or its stream is committed. `dropped`: parameters that the provider left out. `cap`: the tokens to which a budget
   * has capped the answer.
   */
  onServed(served: Served, dropped: readonly string[], cap: number | undefined): void
  /** A committed stream broke. */
  fail(error: GatewayError): void
}

/** The most milliseconds by which the timeout of a call is late. */
const TOLERANCE_MS = 20

/** In place of the name of a link. */
const OWN_TOOLS = 'own-tools'

const deadlines = new Deadlines<Dispatch>(TOLERANCE_MS)

/** Sends a call to the targets of its route, one attempt after the other, until one serves it. */
export class Dispatch implements AttemptListener, Expiring {
  previous: this | undefined
  next: this | undefined
  /** Of all attempts together. */
  readonly deadline: number
  readonly #request: DispatchRequest
  readonly #listener: DispatchListener
  readonly #planner: AttemptPlanner
  readonly #served = Promise.withResolvers<Buffer | undefined>()
  #planned: PlannedAttempt | undefined
  /** The planned attempt, once it has started. */
  #attempt: UpstreamAttempt | undefined
  /** Whether an upstream may have refused the states of tool calls: further attempts go without them. */
  #withoutStates = false
  /** Of the limits of the planned attempt's namespace. */
  #share: LimitShare | undefined
  #probes = NO_PROBES
  #pause: Pick<Pause, 'end'> | undefined
  #startedAt = 0
  #number = 0
  /** Why no further attempt may follow: the client disconnected, or the call timed out. */
  #ended: GatewayError | undefined
  /** The call was served, or failed. */
  #isOver = false

  constructor(request: DispatchRequest, listener: DispatchListener) {
    const { route, call, selection, standIn } = request
    this.#request = request
    this.#listener = listener
    this.#planner = new AttemptPlanner(route, call, selection, standIn)
    this.deadline = performance.now() + route.total
    deadlines.add(this)
  }

  /**
   * Resolves to the body of a whole reply, or to undefined when a stream is committed or the client has disconnected. Rejects with the
   * GatewayError of the last attempt, or with the reason why none was possible.
   */
  run(): Promise<Buffer | undefined> {
    this.#plan()
    return this.#served.promise
  }

  /** The client disconnected. */
  abort(): void {
    // Most calls are served by then; creating an error would cost as much as running a link.
    if (this.#isOver) return
    this.#end(new GatewayError('service_unavailable'))
    this.#attempt?.abort()
  }

  /** Fails the call, in any state. */
  fail(error: GatewayError): void {
    this.#end(error)
    this.#attempt?.fail(error)
  }

  onDeadline(): void {
    this.fail(timeoutError('total'))
  }

  /** The routing of the call so far. */
  get trace(): RouteTrace {
    return this.#planner.trace
  }

  /** When the last attempt began, in milliseconds since the request arrived. */
  get attemptStart(): number {
    return this.#startedAt - this.#request.receivedAt
  }

  /** The attempt under way, as if the process had been killed at `now`. Undefined if there is none, or if it would not be charged. */
  cutOff(now: number): { readonly record: AttemptRecord; readonly tokens: ChargedTokens; readonly call: Call } | undefined {
    const tokens = this.#attempt?.tokensSoFar
    return tokens && { record: this.#record('process_killed', now), tokens: this.#asServed(tokens), call: this.#planned!.call }
  }

  /** The tokens of the attempt under way, with the usual service in place of one that the provider has not asked for. */
  #asServed(tokens: ChargedTokens): ChargedTokens {
    const dropped = [...this.#planned!.dropped, ...this.#attempt!.dropped]
    if (dropped.length === 0) return tokens
    return { ...tokens, served: servedWithout(dropped, tokens.served) }
  }

  #record(result: AttemptEnd['result'], now: number): AttemptRecord {
    return { ...servedBy(this.#planned!), result, start: this.attemptStart, ms: now - this.#startedAt }
  }

  get #account(): string {
    return this.#request.selection.account
  }

  onCommitted(): void {
    this.#serve(undefined)
  }

  onEnded(end: AttemptEnd): void {
    const attempt = this.#attempt!
    const { target } = this.#planned!.candidate
    const { error, result, committed, tokens } = end
    const now = performance.now()
    target.upstream.limiter.release()
    target.health.end(this.#probes)
    this.#settleShare(attempt, tokens)
    if (result === 'unsupported_parameter') {
      this.#failed(error!, false)
      return
    }
    if (!attempt.stale) this.#recordHealth(target, end, now)
    const record = { ...this.#record(result, now), ...refusedWith(error) }
    this.#listener.onAttemptEnded(record, tokens && this.#asServed(tokens), this.#planned!.call)
    if (committed) {
      this.#finish()
      if (error !== undefined) this.#listener.fail(error)
    } else if (error === undefined) {
      this.#finish()
      this.#serve(end.body)
    } else {
      // A vendor may no longer take what it has made: the call is made again without it.
      const isRepeated = attempt.mayRefuseStates(error)
      this.#withoutStates ||= isRepeated
      this.#failed(error, attempt.stale, isRepeated)
    }
  }

  /** Begins the next attempt, or fails the call. */
  #plan(): void {
    let planned: PlannedAttempt | undefined
    try {
      planned = this.#planner.next(performance.now(), this.deadline)
    } catch (error) {
      this.#giveUp(error)
      return
    }
    if (!planned?.fresh) this.#cancelShare()
    if (planned === undefined) {
      this.#giveUp(this.#planner.error)
      return
    }
    this.#planned = planned
    this.#attempt = undefined
    this.#listener.onWait()
    if (planned.pauseMs > 0) this.#wait(pause(planned.pauseMs), () => this.#askCaller(planned))
    else this.#askCaller(planned)
  }

  /** What failed attempts have used may leave too little of the caller's limits for another one: then the call ends. */
  #askCaller(planned: PlannedAttempt): void {
    const answer = this.#listener.mayAttempt(planned.candidate)
    if (answer === undefined) this.#takeShare(planned)
    else this.#wait(pauseUntil(answer), (refusal) => (refusal === undefined ? this.#takeShare(planned) : this.#giveUp(refusal)))
  }

  /** Takes of the limits of the namespace. An attempt on a new connection in place of a stale one has its share. */
  #takeShare(planned: PlannedAttempt): void {
    const { call, limited, candidate } = planned
    const { limits } = candidate.target.upstream
    if (limits === undefined || this.#share !== undefined) {
      this.#acquire(planned)
      return
    }
    const answer =
      limited === undefined
        ? limits.take(call)
        : limits.wait(limited, Math.min(limited.waitMs, this.deadline - performance.now()))
    if ('over' in answer) this.#wait(answer, (later) => this.#answered(planned, later))
    else this.#answered(planned, answer)
  }

  #answered(planned: PlannedAttempt, answer: LimitAnswer): void {
    if (answer instanceof LimitShare) {
      this.#share = answer
      if (this.#ended === undefined) this.#acquire(planned)
      else this.#plan()
    } else this.#limited(answer)
  }

  #limited(reached: LimitReached): void {
    this.#planner.skipLimitedTarget(reached)
    this.#plan()
  }

  /** Takes a place at the upstream. */
  #acquire(planned: PlannedAttempt): void {
    let place: Pause | undefined
    try {
      place = planned.candidate.target.upstream.limiter.acquire()
    } catch (error) {
      this.#failed(error as GatewayError, false)
      return
    }
    if (place === undefined) this.#startUnlessOpen(planned)
    else this.#wait(place, () => this.#startUnlessOpen(planned))
  }

  #wait<Value>(wait: Pause<Value>, then: (value: Value) => void): void {
    this.#pause = wait
    wait.over.then(then, (error: GatewayError) => {
      // A call that times out during a wait fails with the error of its last attempt, or with the limit that it waits for.
      if (error !== this.#ended) this.#failed(error, false)
      else if (this.#planned!.limited !== undefined && this.#share === undefined) this.#limited(this.#planned!.limited)
      else this.#plan()
    })
  }

  /** The breaker may have opened while the call waited: after an attempt, for a limit or for a place. */
  #startUnlessOpen(planned: PlannedAttempt): void {
    const { upstream, health } = planned.candidate.target
    if (this.#ended !== undefined || health.availability(performance.now(), this.#account) !== 'open') {
      this.#start(planned)
      return
    }
    upstream.limiter.release()
    this.#planner.skipOpenTarget()
    this.#plan()
  }

  #start({ candidate, operation, call, forms, ownTools, fresh, credential, credentialRefused, hold }: PlannedAttempt): void {
    const { target, timeouts, strict } = candidate
    this.#pause = undefined
    if (this.#ended !== undefined) {
      target.upstream.limiter.release()
      this.#plan()
      return
    }
    this.#probes = target.health.begin(this.#account)
    this.#startedAt = performance.now()
    const { format, client, threads, timer, nearest } = this.#request
    const { stream, transforms } = this.#listener
    this.#attempt = new UpstreamAttempt({
      call,
      served: target.served,
      operation,
      number: ++this.#number,
      credentialRefused,
      strict,
      format:
        forms === undefined
          ? (format.keptBy?.(keptCall(this.#request.call, keeperOf(target, this.#account, credential)), call) ?? format)
          : chatReply,
      replies: forms,
      states: operation.takesCallStates ? this.#statesAt(target, credential) : undefined,
      withoutStates: this.#withoutStates,
      limits: timeouts,
      stream,
      transforms:
        ownTools === undefined
          ? transforms
          : [...ownTools.map((make) => ({ link: OWN_TOOLS, transform: make() })), ...transforms],
      passedThrough: target.passedThrough ? call.model.id : undefined,
      nearest,
      hold,
      fresh,
      threads,
      timer,
      listener: this,
    })
    this.#attempt.start(target.client ?? client)
  }

  #statesAt(target: Target, credential: Credential | undefined): KeptStates | undefined {
    const { states, call } = this.#request
    if (states === undefined || !target.keepReasoning) return undefined
    const keeper = keeperOf(target, this.#account, credential)
    return {
      recall: () => states.recall(call, keeper),
      keep: (found) => states.keep(call, keeper, found),
    }
  }

  /** Settles the share of an attempt that reached its upstream. What is not settled is kept for the same attempt, or cancelled. */
  #settleShare({ wasSent, stale }: UpstreamAttempt, tokens: ChargedTokens | undefined): void {
    if (this.#share === undefined || stale || !wasSent) return
    if (tokens?.isPromptEstimated) this.#share.settleEstimated(tokens.usage.completion_tokens)
    else this.#share.settle(tokens?.usage.total_tokens ?? 0)
    this.#share = undefined
  }

  #cancelShare(): void {
    this.#share?.cancel()
    this.#share = undefined
  }

  #serve(body: Buffer | undefined): void {
    const { dropped, forms, cap } = this.#planned!
    const late = this.#attempt!.dropped
    if (this.#ended === undefined) {
      const names = late.map((name) => forms?.protocol.namesOf[name] ?? name)
      const all = late.length === 0 ? dropped : [...new Set([...dropped, ...names])]
      this.#listener.onServed(servedBy(this.#planned!), all, cap)
    }
    this.#served.resolve(body)
  }

  #failed(error: GatewayError, stale: boolean, isRepeated = false): void {
    this.#planner.failed(error, stale, isRepeated)
    this.#plan()
  }

  #giveUp(error: unknown): void {
    this.#finish()
    this.#served.reject(error)
  }

  /** Records the result in the target's health. A disconnected client or an invalid request does not count against the target. */
  #recordHealth({ health, upstream }: Target, { result, error }: AttemptEnd, now: number): void {
    if (result === 'ok' || error?.fault === 'caller') {
      health.succeeded(now, (this.#attempt!.heardAt ?? now) - this.#startedAt, this.#probes, this.#account)
      return
    }
    if (error === undefined) return
    const { failed, cooldownMs, forAll, ofCredential } = policyFor(error)
    if (error.fault === 'upstream' && !isRenewable(this.#planned!, error))
      health.failedBy(now, { row: error.row, ...refusedWith(error) })
    if (failed) health.failed(now, failed, this.#probes, this.#account)
    if (cooldownMs === undefined || isRenewable(this.#planned!, error)) return
    const { credential } = this.#planned!
    // Of several credentials only the refused one cools down, and the target while none is ready.
    const isOneOfSeveral = ofCredential && credential !== undefined
    const account = forAll ? ANYONE : this.#account
    const ms = isOneOfSeveral ? upstream.credentials!.coolDown(credential, now, cooldownMs, account) : cooldownMs
    health.coolDown(now, ms, account)
  }

  #end(error: GatewayError): void {
    this.#ended = error
    this.#planner.end(error)
    this.#pause?.end(error)
  }

  #finish(): void {
    this.#cancelShare()
    if (!this.#isOver) {
      deadlines.remove(this)
      for (const { target, why } of this.#planner.skipped) target.upstream.skipped(why)
    }
    this.#isOver = true
  }
}

/** The target of an attempt, with the name of its credential if the namespace has several. */
function servedBy({ candidate: { target }, credential }: PlannedAttempt): Served {
  return credential === undefined ? target.served : { ...target.served, credential: credential.name }
}

/** The status with which an upstream refused a call, if it did. */
function refusedWith(error: GatewayError | undefined): { readonly status: number } | undefined {
  return error?.cause instanceof UpstreamError ? { status: error.cause.refusal.status } : undefined
}
