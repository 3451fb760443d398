import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { FileTexts } from '../config/file/files-read.ts'
import { KeyCache } from '../keys/directory.ts'
import type { QuotaAuthority } from '../limits/authority.ts'
import type { Counter, Lease, LeaseRequest } from '../limits/counter.ts'
import type { Log } from '../observe/log.ts'
import type { TotalMetrics } from '../observe/total-metrics.ts'
import { type TargetReport, worstOf } from '../routing/upstream-state.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import type { CallRecorder } from '../usage/recorder.ts'
import { Channel } from './channel.ts'
import type { ControlMessages, ControlPlane, ProxyChannel, ProxyMessages } from './planes.ts'

/** The longest wait of a proxy for a key that was found before, in milliseconds: the database answers or fails before. */
const LOOK_UP_MS = 5_000

/** The options of `Proxies`. */
export interface ProxiesOptions {
  readonly control: ControlPlane & {
    readonly authority: Pick<QuotaAuthority, 'renew'>
    readonly recorder: Pick<CallRecorder, 'record' | 'written'>
  }
  readonly metrics: TotalMetrics
  readonly log: Log
}

/** The proxies that are connected to this control process. */
export class Proxies {
  readonly #options: ProxiesOptions
  readonly #channels = new Set<ProxyChannel>()
  readonly #keys: KeyCache
  readonly #stopWatching: () => void
  readonly #join: (channel: ProxyChannel) => Promise<void>

  /** `join`: brings a proxy that has connected to the version of routes.yaml in use, and then calls `add`. */
  constructor(options: ProxiesOptions, join: (channel: ProxyChannel) => Promise<void>) {
    this.#options = options
    this.#join = join
    // Before the proxies, it learns of a change: they ask again at once.
    this.#keys = new KeyCache(options.control.keys, { patienceMs: LOOK_UP_MS })
    this.#stopWatching = options.control.keys.watch({
      changed: (id) => this.#tell((channel) => channel.call('keysChanged', id ?? null)),
      lost: () => this.#tell((channel) => channel.call('keysLost')),
    })
  }

  /** Serves a proxy that has connected. */
  accept(socket: Socket): void {
    const { authority, keys, recorder, values } = this.#options.control
    const places = new PlacesInUse(authority)
    const messages: ControlMessages = {
      findKey: async (digest) => (await this.#keys.holders.getNewest(digest)) ?? null,
      findAccount: async (id) => (await this.#keys.accounts.getNewest(id)) ?? null,
      renewLeases: (holder, requests) => places.renew(holder, requests),
      getValues: (place, wanted) => values.get(place, wanted),
      putValues: (place, entries, ttlMs) => values.put(place, entries, ttlMs ?? undefined),
      addValue: (place, entry, ttlMs) => values.add(place, entry, ttlMs ?? undefined),
      deleteValues: (place, unwanted) => values.delete(place, unwanted),
      report(calls, keyIds) {
        for (const call of calls) recorder.record(call)
        for (const id of keyIds) keys.used(id)
      },
      written: () => recorder.written(),
      leave: (process, state) => this.#options.metrics.leaves(process, state),
    }
    const channel = new Channel<ProxyMessages, ControlMessages>(socket, messages)
    channel.closed.addEventListener('abort', () => {
      places
        .giveBack()
        .catch((err: unknown) =>
          this.#options.log.warn({ err }, 'the places of an ended proxy stay in use until its leases expire'),
        )
    })
    this.#join(channel).catch((err: unknown) => {
      // A proxy that ends while it joins is replaced by the supervisor.
      if (!channel.closed.aborted) this.#options.log.error({ err }, 'a proxy process cannot serve')
      channel.close()
    })
  }

  /** Adds a proxy that serves calls. */
  add(channel: ProxyChannel, id: string): void {
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
    this.#keys.close()
    for (const channel of this.#channels) channel.close()
  }

  /** The answers of the proxies that answer: one that hangs or ends is replaced, and its successor brought up to date. */
  async #ask<Answer>(question: (channel: ProxyChannel) => Promise<Answer>): Promise<Answer[]> {
    const answers = [...this.#channels].map((channel) =>
      question(channel).catch((err: unknown) => {
        this.#options.log.warn({ err }, 'a proxy process did not answer')
        channel.close()
      }),
    )
    return (await Promise.all(answers)).filter((answer) => answer !== undefined) as Answer[]
  }

  #tell(send: (channel: ProxyChannel) => Promise<unknown>): void {
    void this.#ask(send)
  }
}

/** The places of one proxy. They are given back when it ends: none of its calls goes on, so nobody need wait until its leases expire. */
class PlacesInUse {
  readonly #authority: Pick<QuotaAuthority, 'renew'>
  readonly #counters = new Map<string, Counter>()
  #holder = ''

  constructor(authority: Pick<QuotaAuthority, 'renew'>) {
    this.#authority = authority
  }

  async renew(holder: string, requests: readonly LeaseRequest[]): Promise<readonly (Lease | null)[]> {
    this.#holder = holder
    const leases = await this.#authority.renew(holder, requests)
    for (const [index, { counter }] of requests.entries()) {
      if (counter.window !== undefined) continue
      // Of a counter that cannot be changed, they may be in use.
      if (leases[index]?.held !== 0) this.#counters.set(counter.id, counter)
      else this.#counters.delete(counter.id)
    }
    return leases
  }

  async giveBack(): Promise<void> {
    const nothing = { windowEnd: 0, spent: 0, keep: 0, need: 0, want: 0 }
    await this.#authority.renew(
      this.#holder,
      Array.from(this.#counters.values(), (counter) => ({ counter, ...nothing })),
    )
  }
}
