import { setImmediate as nextTurn } from 'node:timers/promises'
import { CLIENT_GONE } from '../dispatch/attempt.ts'
import { asGatewayError, GatewayError, UpstreamFailure } from '../errors.ts'
import type { BackgroundReply } from '../kept/background-reply.ts'
import { BackgroundResponses, type BackgroundStore, type NumberedEvent } from '../kept/background-responses.ts'
import type { Log } from '../observe/log.ts'
import { ClientCall } from '../protocol/call.ts'
import { failedResponse, responseFrame } from '../protocol/responses/background.ts'
import { queuedResponse } from '../protocol/responses/reply.ts'
import type { Call } from '../sdk/api.ts'
import type { Admission, CallMemory } from './admission.ts'
import { sendEvents } from './background-events.ts'
import { EventLog, untilReached } from './event-log.ts'
import type { CallEnd, Exchange } from './exchange.ts'
import type { Output } from './output.ts'

/** Renewals of a lease in its time. */
const RENEWALS = 10

/** The services of background calls. */
export interface BackgroundOptions extends BackgroundStore {
  readonly admission: Pick<Admission, 'placeFor'>
  readonly log: Pick<Log, 'error'>
}

/** The background calls of a process, by the ids of their responses. */
export class BackgroundCalls {
  readonly options: BackgroundOptions
  readonly #calls = new Map<string, BackgroundCall>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: BackgroundOptions) {
    this.options = options
  }

  /** Begins a call that goes on without its client. Throws 429 or 503 if there is no room for it. */
  async begin(exchange: Exchange, call: Call, reply: BackgroundReply): Promise<Output> {
    const principal = exchange.principal!
    const place = this.options.admission.placeFor(principal.account)
    const responses = BackgroundResponses.of(principal, exchange.generation!.keeping, this.options)!
    const background = new BackgroundCall({ exchange, call, reply, responses, place, calls: this })
    try {
      await background.begin()
      exchange.signal.throwIfAborted()
    } catch (error) {
      background.discard()
      throw error
    }
    return background
  }

  /** The events of a response whose call runs in this process. */
  logOf(id: string): EventLog | undefined {
    return this.#calls.get(id)?.log
  }

  /** The response was ended: its call, if it runs in this process, ends. */
  abort(id: string): void {
    this.#calls.get(id)?.abort()
  }

  add(call: BackgroundCall): void {
    this.#calls.set(call.id, call)
    this.#timer ??= setInterval(() => this.#renew(), this.options.lease / RENEWALS)
  }

  remove({ id }: BackgroundCall): void {
    this.#calls.delete(id)
    if (this.#calls.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #renew(): void {
    for (const call of this.#calls.values()) void call.renew()
  }
}

interface CallOptions {
  readonly exchange: Exchange
  readonly call: Call
  readonly reply: BackgroundReply
  readonly responses: BackgroundResponses
  readonly place: CallMemory
  readonly calls: BackgroundCalls
}

/**
 * A background call, in the process that runs it. Its client gets a reply at once, and it goes on when that client has left. How it ends is kept
 * once: here, by a client that cancels it, or by a reader who finds that this process is silent (docs/decisions/background-responses.md).
 */
class BackgroundCall implements Output {
  readonly #options: CallOptions
  readonly id: string
  /** As the client gets it at first: JSON. */
  readonly #queued: ReturnType<typeof queuedResponse>
  readonly #first: readonly NumberedEvent[]
  /** The events; undefined if the client asked for none. */
  readonly log: EventLog | undefined
  #isRenewing = false

  constructor(options: CallOptions) {
    const { call, exchange, reply, responses } = options
    const { id } = reply
    const { client } = ClientCall.bodyOf(call)
    this.#options = options
    this.id = id
    const queued = queuedResponse(
      { model: call.model.id, large: client.large, kept: client.kept, member: (name) => client.member(name) },
      id,
    )
    this.#queued = queued
    this.#first = call.stream ? ['created', 'queued'].map((event, number) => [number, responseFrame(event, number, queued)]) : []
    if (call.stream)
      this.log = new EventLog({ id, responses, begun: this.#first.length, onFailed: (error) => exchange.end(error) })
  }

  get sink(): EventLog | undefined {
    return this.log
  }

  async begin(): Promise<void> {
    const { reply, responses, calls } = this.#options
    reply.await()
    await responses.begin(this.id, { ...reply.call, response: JSON.stringify(this.#queued) }, this.#first)
    calls.add(this)
  }

  /** What is refused before its first attempt is the client's error. Then the client has its reply, or a stream that it may leave. */
  async send(made: Promise<unknown>): Promise<void> {
    const { exchange, calls } = this.#options
    const ended = made.then(() => undefined, asGatewayError)
    const refused = await Promise.race([ended, nextTurn(undefined)])
    if (exchange.closed || (refused !== undefined && exchange.attempts!.ended.length === 0)) {
      this.discard()
      if (refused !== undefined) throw refused
      return
    }
    exchange.detached = this.#end(ended)
    void this.renew()
    if (this.log === undefined) exchange.answer({ kind: 'whole', body: Buffer.from(JSON.stringify(this.#queued)) })
    else sendEvents(exchange, { id: this.id, after: -1, responses: this.#options.responses, calls })
  }

  /** The call has not begun after all. */
  discard(): void {
    this.#leave()
    // Nobody knows its id, and what is kept of it expires.
    this.#options.responses.forget(this.id).catch(() => undefined)
  }

  abort(): void {
    this.#options.exchange.end(CLIENT_GONE)
  }

  /** Says that this process runs the call, and learns whether it was ended elsewhere. */
  async renew(): Promise<void> {
    const { exchange, responses } = this.#options
    if (this.#isRenewing) return
    this.#isRenewing = true
    try {
      const status =
        exchange.attempts!.running === undefined && exchange.attempts!.served === undefined ? 'queued' : 'in_progress'
      if (!(await responses.renew(this.id, status))) this.abort()
    } catch {
      // The store cannot be reached: by the next renewals it may be.
    } finally {
      this.#isRenewing = false
    }
  }

  async #end(ended: Promise<GatewayError | undefined>): Promise<CallEnd> {
    const { signal } = this.#options.exchange
    const error = await ended
    const isCancelled = signal.aborted && signal.reason === CLIENT_GONE
    await this.log?.kept()
    if (!isCancelled) await this.#keepEnd(error)
    this.#leave()
    return { statusCode: error?.status ?? 200, writableFinished: !isCancelled, error: isCancelled ? undefined : error }
  }

  async #keepEnd(error: GatewayError | undefined): Promise<void> {
    const { reply, responses, calls } = this.#options
    const finish = (response: string): Promise<boolean> =>
      untilReached(() => responses.finish(this.id, { ...reply.call, response }))
    const finishAs = (failure: GatewayError | undefined) => finish(JSON.stringify(failedResponse(this.#queued, failure)))
    try {
      if (error !== undefined || reply.response === undefined) await finishAs(error)
      else if (!(await finish(reply.response)))
        await finishAs(new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('REPLY_TOO_LARGE') }))
    } catch (err) {
      calls.options.log.error({ err, response: this.id }, 'the end of a background response is lost')
    }
  }

  #leave(): void {
    this.#options.calls.remove(this)
    this.#options.place.release()
    this.log?.close()
  }
}
