import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { FileTexts } from '../config/file/files-read.ts'
import type { Log } from '../observe/log.ts'
import type { TotalMetrics } from '../observe/total-metrics.ts'
import type { TargetReport } from '../routing/upstream-state.ts'
import type { Reservation } from '../sdk/api.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import { Channel } from './channel.ts'
import type { ControlMessages, ControlPlane, ProxyMessages } from './planes.ts'

/** The options of `Proxies`. */
export interface ProxiesOptions {
  readonly control: ControlPlane
  readonly metrics: TotalMetrics
  readonly log: Log
}

/** The proxies that are connected to this control process. */
export class Proxies {
  readonly #options: ProxiesOptions
  readonly #channels = new Set<Channel<ProxyMessages>>()
  readonly #stopWatching: () => void
  readonly #join: (channel: Channel<ProxyMessages>) => Promise<void>

  /** `join`: brings a proxy that has connected to the version of routes.yaml in use, and then calls `add`. */
  constructor(options: ProxiesOptions, join: (channel: Channel<ProxyMessages>) => Promise<void>) {
    this.#options = options
    this.#join = join
    this.#stopWatching = options.control.keys.watch({
      changed: (id) => this.#tell((channel) => channel.call('keysChanged', id ?? null)),
      lost: () => this.#tell((channel) => channel.call('keysLost')),
    })
  }

  /** Serves a proxy that has connected. */
  accept(socket: Socket): void {
    const reservations = new Reservations(this.#options.control)
    const { keys, recorder } = this.#options.control
    const messages: ControlMessages = {
      findKey: async (digest) => (await keys.find(digest)) ?? null,
      reserve: (subject, limits, tokens) => reservations.reserve(subject, limits, tokens),
      settle: (id, tokens) => reservations.settle(id, tokens),
      cancel: (id) => reservations.cancel(id),
      report(calls, keyIds) {
        for (const call of calls) recorder.record(call)
        for (const id of keyIds) keys.used(id)
      },
    }
    const channel = new Channel<ProxyMessages>(socket, messages)
    channel.closed.addEventListener('abort', () => reservations.settleAll())
    this.#join(channel).catch((err: unknown) => {
      // A proxy that ends while it joins is replaced by the supervisor.
      if (!channel.closed.aborted) this.#options.log.error({ err }, 'a proxy process cannot serve')
      channel.close()
    })
  }

  /** Adds a proxy that serves calls. */
  add(channel: Channel<ProxyMessages>, id: string): void {
    if (channel.closed.aborted) return
    this.#channels.add(channel)
    const ended = this.#options.metrics.add({ id, state: () => channel.call('metrics') })
    channel.closed.addEventListener('abort', () => {
      this.#channels.delete(channel)
      ended()
    })
  }

  /** Lets all proxies build a generation of these files. Resolves to the problems; empty if all can activate it. */
  async prepare(files: FileTexts): Promise<readonly Diagnostic[]> {
    const answers = await this.#ask((channel) => channel.call('prepare', files))
    return answers.find((problems) => problems.length > 0) ?? []
  }

  /** Lets all proxies serve new calls by the generation that they prepared. */
  async activate(): Promise<void> {
    await this.#ask((channel) => channel.call('activate'))
  }

  discard(): void {
    this.#tell((channel) => channel.call('discard'))
  }

  /** The state of all targets, over all proxies. */
  async targets(): Promise<readonly TargetReport[]> {
    const reports = (await this.#ask((channel) => channel.call('targets'))).flat()
    return Map.groupBy(reports, ({ namespace, model }) => `${namespace}/${model}`)
      .values()
      .map(worstOf)
      .toArray()
  }

  /** Resolves when no proxy is connected. */
  async gone(): Promise<void> {
    for (const { closed } of this.#channels) if (!closed.aborted) await once(closed, 'abort')
  }

  close(): void {
    this.#stopWatching()
    for (const channel of this.#channels) channel.close()
  }

  /** The answers of the proxies that answer: one that hangs or ends is replaced, and its successor brought up to date. */
  async #ask<Answer>(question: (channel: Channel<ProxyMessages>) => Promise<Answer>): Promise<Answer[]> {
    const answers = [...this.#channels].map((channel) =>
      question(channel).catch((err: unknown) => {
        this.#options.log.warn({ err }, 'a proxy process did not answer')
        channel.close()
      }),
    )
    return (await Promise.all(answers)).filter((answer) => answer !== undefined) as Answer[]
  }

  #tell(send: (channel: Channel<ProxyMessages>) => Promise<unknown>): void {
    void this.#ask(send)
  }
}

/** The reservations of one proxy. */
class Reservations {
  readonly #control: ControlPlane
  readonly #held = new Map<number, { readonly reservation: Reservation; readonly tokens: number }>()
  #lastId = 0

  constructor(control: ControlPlane) {
    this.#control = control
  }

  reserve: ControlMessages['reserve'] = async (subject, limits, tokens) => {
    const reservation = await this.#control.limits.reserve(subject, limits, tokens)
    const { refusedBy, retryAfterMs, requests, tokens: budget } = reservation
    const answer = { refusedBy, retryAfterMs, requests, tokens: budget }
    if (refusedBy !== undefined) return answer
    const id = ++this.#lastId
    this.#held.set(id, { reservation, tokens })
    return { ...answer, id }
  }

  settle(id: number, tokens: number): void {
    void this.#held.get(id)?.reservation.settle(tokens)
    this.#held.delete(id)
  }

  cancel(id: number): void {
    void this.#held.get(id)?.reservation.cancel()
    this.#held.delete(id)
  }

  /** The proxy has ended: its calls cost what they reserved. */
  settleAll(): void {
    for (const [id, { tokens }] of this.#held) this.settle(id, tokens)
  }
}

const BREAKERS: readonly TargetReport['breaker'][] = ['closed', 'half_open', 'open']

/** One report of a target from those of all processes: its worst state, and the sum of its attempts. */
function worstOf(reports: readonly TargetReport[]): TargetReport {
  const worst = reports.reduce((one, other) => (severity(other) > severity(one) ? other : one))
  const busy = reports.reduce((sum, report) => sum + report.busy, 0)
  return { ...worst, busy, latency: Math.max(...reports.map(({ latency }) => latency)) }
}

const severity = ({ breaker, availableInMs }: TargetReport): number => BREAKERS.indexOf(breaker) * 1e9 + availableInMs
