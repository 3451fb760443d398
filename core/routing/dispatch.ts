import { type Pause, pause } from '../async/pause.ts'
import { Watch, type Watched } from '../async/ticker.ts'
import { GatewayError } from '../errors.ts'
import type { Relay } from '../http/relay.ts'
import type { ReplyFormat } from '../protocol/format.ts'
import { promptEstimate } from '../protocol/usage.ts'
import type { AttemptRecord, Call, RouteTrace, Served, Usage } from '../sdk/api.ts'
import { Attempt, type AttemptEnd, type AttemptOwner } from '../upstream/attempt.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import { timeoutError } from '../upstream/failures.ts'
import type { LinkTransform } from '../upstream/readers/reader.ts'
import { Itinerary, isRenewable, type Stop, type Traveller } from './attempt-planner.ts'
import { verdictOn } from './retry.ts'
import type { Route, Target } from './route.ts'

/** A call on its way to an upstream. */
export interface Shipment {
  readonly call: Call
  readonly route: Route
  readonly traveller: Traveller
  readonly format: ReplyFormat
  readonly client: UpstreamClient
}

/** What a try used. */
export interface Tokens {
  readonly usage: Usage
  /** True where the upstream did not say. */
  readonly estimated: boolean
}

/** Where the reply goes, and who hears how it goes. */
export interface CallOwner {
  readonly transforms: readonly LinkTransform[]
  /** Where a stream goes; absent for a whole reply. */
  readonly relay: Relay | undefined
  /** An upstream is asked, or waited for. */
  onWait(): void
  /** A try ended. `tokens`: absent where no upstream took the call. */
  onAttemptOver(record: AttemptRecord, tokens: Tokens | undefined): void
  /** The reply is committed. `dropped`: parameters that its provider left out. */
  onServed(served: Served, dropped: readonly string[]): void
  /** A committed stream broke. */
  onBroken(error: GatewayError): void
}

/** Milliseconds by which the end of a call's time may be noticed late. */
const TICK_MS = 20

const watch = new Watch<Dispatch>(TICK_MS)

/** Sends a call to the targets of its route, one after the other, until one of them has served it. */
export class Dispatch implements AttemptOwner, Watched {
  readonly #shipment: Shipment
  readonly #owner: CallOwner
  readonly #itinerary: Itinerary
  readonly #expiresAt: number
  before: this | undefined
  after: this | undefined
  /** Of the stop that the call is at. */
  #attempt: Attempt | undefined
  #stop: Stop | undefined
  #isProbe = false
  #pause: Pause | undefined
  #startedAt = 0
  #number = 0
  #ended: GatewayError | undefined
  /** Served, or given up. */
  #isOver = false

  constructor(shipment: Shipment, owner: CallOwner) {
    const { route, call, traveller } = shipment
    this.#shipment = shipment
    this.#owner = owner
    this.#itinerary = new Itinerary(route, call, traveller)
    this.#expiresAt = performance.now() + route.total
    watch.add(this)
  }

  /**
   * Resolves to the body of a whole reply, or to undefined when a stream is committed or the client has left; rejects with the
   * GatewayError of the last try, or with why none could be made.
   */
  async run(): Promise<Buffer | undefined> {
    for (;;) {
      const stop = this.#next()
      this.#stop = stop
      this.#attempt = undefined
      try {
        this.#owner.onWait()
        // Most calls find a place at once, and a pause of nothing would cost each of them.
        const waiting = this.#arrive(stop)
        if (waiting !== undefined) {
          await waiting
          if (this.#isTurnedAway(stop)) continue
        }
        return await this.#ask(stop)
      } catch (error) {
        const { stale = false } = this.#attempt ?? {}
        // Where its time is up while it waits, a call has failed with what its last try did.
        if (this.#attempt !== undefined || error !== this.#ended) this.#itinerary.failed(error as GatewayError, stale)
      }
    }
  }

  /** The client left. */
  abort(): void {
    // Most have been served by then, and an error costs as much as a call's whole way through a link.
    if (this.#isOver) return
    this.#end(new GatewayError('service_unavailable'))
    this.#attempt?.abort()
  }

  /** Ends the call badly, wherever it is. */
  fail(error: GatewayError): void {
    this.#end(error)
    this.#attempt?.fail(error)
  }

  look(now: number): void {
    if (now >= this.#expiresAt) this.fail(timeoutError('total'))
  }

  /** How the call was led so far. */
  get trace(): RouteTrace {
    return this.#itinerary.trace
  }

  onOver(end: AttemptEnd): void {
    const attempt = this.#attempt!
    const { target } = this.#stop!.candidate
    const now = performance.now()
    target.upstream.gate.leave()
    target.health.leave(this.#isProbe)
    if (end.result === 'unsupported_parameter') return
    if (!attempt.stale) this.#judge(target, end, now)
    if (end.error === undefined || end.committed) this.#finish()
    const tokens = tokensOf(attempt, this.#shipment.call, end)
    const { namespace, model, provider } = target.served
    this.#owner.onAttemptOver({ namespace, model, provider, result: end.result, ms: now - this.#startedAt }, tokens)
    if (end.committed && end.error !== undefined) this.#owner.onBroken(end.error)
  }

  /** Throws where there is no further stop, or the call's body is found to be none. */
  #next(): Stop {
    try {
      const stop = this.#itinerary.next(performance.now(), this.#expiresAt)
      if (stop !== undefined) return stop
    } catch (error) {
      this.#finish()
      throw error
    }
    this.#finish()
    throw this.#itinerary.error
  }

  /** Takes a place at the stop's upstream. A promise where it has to be waited for. */
  #arrive(stop: Stop): Promise<void> | undefined {
    if (stop.pauseMs > 0) return this.#wait(pause(stop.pauseMs)).then(() => this.#arrive({ ...stop, pauseMs: 0 }))
    const place = stop.candidate.target.upstream.gate.enter()
    return place && this.#wait(place)
  }

  async #wait(what: Pause): Promise<void> {
    this.#pause = what
    await what.over
    this.#pause = undefined
  }

  /** Whether the target was shut while the call waited for it: then it gives its place back. */
  #isTurnedAway({ candidate }: Stop): boolean {
    const { upstream, health } = candidate.target
    if (this.#ended !== undefined || health.standing(performance.now()) !== 'shut') return false
    upstream.gate.leave()
    this.#itinerary.turnedAway()
    return true
  }

  async #ask({ candidate, operation, call, dropped, fresh, credentialRefused, hold }: Stop): Promise<Buffer | undefined> {
    const { target, timeouts, strict } = candidate
    const { served } = target
    const { format, client } = this.#shipment
    if (this.#ended !== undefined) {
      target.upstream.gate.leave()
      throw this.#ended
    }
    this.#isProbe = target.health.enter()
    this.#startedAt = performance.now()
    const { relay, transforms } = this.#owner
    const passedThrough = target.passedThrough ? call.model.id : undefined
    const number = ++this.#number
    const attempt = new Attempt({
      call,
      served,
      operation,
      number,
      credentialRefused,
      strict,
      format,
      limits: timeouts,
      relay,
      transforms,
      passedThrough,
      hold,
      fresh,
      owner: this,
    })
    this.#attempt = attempt
    const body = await attempt.run(client)
    if (this.#ended === undefined)
      this.#owner.onServed(served, attempt.dropped.length === 0 ? dropped : [...dropped, ...attempt.dropped])
    return body
  }

  /** What a try says of its target's health. A client that left, or asked for what cannot be, says nothing against it. */
  #judge({ health }: Target, { result, error }: AttemptEnd, now: number): void {
    if (result === 'ok' || error?.fault === 'caller') {
      health.succeeded(now, (this.#attempt!.heardAt ?? now) - this.#startedAt, this.#isProbe)
      return
    }
    if (error === undefined) return
    const { failed, rest } = verdictOn(error)
    if (failed) health.failed(now, this.#isProbe)
    if (rest !== undefined && !isRenewable(this.#stop!, error)) health.rest(now, rest)
  }

  #end(error: GatewayError): void {
    this.#ended = error
    this.#itinerary.end(error)
    this.#pause?.end(error)
  }

  #finish(): void {
    if (!this.#isOver) watch.remove(this)
    this.#isOver = true
  }
}

/** What a try used: as the upstream said, else estimated; a failed one that had said nothing is not charged. */
function tokensOf(attempt: Attempt, call: Call, end: AttemptEnd): Tokens | undefined {
  if (attempt.usage !== undefined) return { usage: attempt.usage, estimated: false }
  const completion = attempt.estimatedTokens
  if (completion === undefined || (completion === 0 && end.result !== 'ok')) return undefined
  const prompt = promptEstimate(call)
  return { usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }, estimated: true }
}
