import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { withTimeout } from '../async/timeout.ts'
import type { GatewayError } from '../errors.ts'
import type { CallMetrics, PluginMetrics } from '../observe/call-metrics.ts'
import type { Log } from '../observe/log.ts'
import type { PluginFailure } from '../plugins/faults.ts'
import type { Outcome } from '../sdk/api.ts'
import { type CallSink, callRecord } from '../usage/call-record.ts'
import { Exchange, type HookRunner, type RunningLink, type SentReply, type SettledHook } from './exchange.ts'

/** The services of settlement. */
export interface SettlementOptions {
  readonly calls: CallMetrics
  readonly plugins: PluginMetrics
  readonly recorder: CallSink
  readonly log: Log
  /** Timeout of each settled hook, in milliseconds. */
  readonly hookTimeout: number
}

/** Settles calls after their last byte: runs the links' hooks, reports the call, and releases its generation. */
export class Settlement implements HookRunner {
  readonly #options: SettlementOptions

  constructor(options: SettlementOptions) {
    this.#options = options
  }

  /** Called once per request, when its reply closes. */
  settle(exchange: Exchange, { headers }: Pick<IncomingMessage, 'headers'>, response: SentReply): void {
    exchange.close(response)
    const settle = (): void => this.#settle(exchange, headers)
    // An attempt under way ends now, and has its charge.
    if (exchange.dispatching === undefined) settle()
    else void exchange.dispatching.then(settle, settle)
  }

  #settle(exchange: Exchange, headers: IncomingHttpHeaders): void {
    const { outcome, attempts, links } = exchange
    attempts?.charge.settle(outcome)
    // Probes and scrapes are not calls.
    if (exchange.endpoint === undefined && outcome.error === undefined) return
    links?.settle(this, outcome)
    const hooks = links?.settledHooks ?? []
    const running = hooks.map((hook) => this.run(hook, outcome)).filter((work) => work !== undefined)
    this.#report(exchange, outcome, headers)
    if (running.length === 0) exchange.release()
    else void Promise.all(running).then(() => exchange.release())
  }

  /** Called for input refused before it became a request. */
  refused(id: string, error: GatewayError): void {
    const exchange = new Exchange(id)
    exchange.fail(error)
    this.settle(exchange, { headers: {} }, { statusCode: error.status, writableFinished: true })
  }

  run({ link, fn }: SettledHook, outcome: Outcome): Promise<void> | undefined {
    const startedAt = performance.now()
    try {
      const working = link.inside(() => fn(outcome))
      // Most hooks are synchronous and need no promise.
      if (working !== undefined) return this.#settled(link, working, startedAt)
    } catch (err) {
      this.#failed(link, err)
    }
    this.#ran(link, startedAt)
    return undefined
  }

  async #settled(link: RunningLink, working: Promise<void>, startedAt: number): Promise<void> {
    try {
      await withTimeout(this.#options.hookTimeout, Promise.resolve(working))
    } catch (err) {
      this.#failed(link, err)
    }
    this.#ran(link, startedAt)
  }

  #failed({ name }: RunningLink, err: unknown): void {
    const { plugins, log } = this.#options
    plugins.failed(name, 'settled')
    log.error({ plugin: name, err }, 'onSettled failed')
  }

  #ran({ name }: RunningLink, startedAt: number): void {
    this.#options.plugins.ran(name, 'settled', performance.now() - startedAt)
  }

  failedLate(id: string, failure: PluginFailure): void {
    const { plugins, log } = this.#options
    plugins.failed(failure.plugin, failure.phase)
    log.error({ id, err: failure }, 'plugin failed')
  }

  /** `headers`: the request's. */
  #report(exchange: Exchange, outcome: Outcome, headers: IncomingHttpHeaders): void {
    const { calls, plugins, recorder } = this.#options
    const { id, principal, tags, trace } = exchange
    calls.settled(outcome)
    recorder.record(callRecord(outcome, { id, principal, tags, headers, trace }))
    for (const failure of exchange.pluginFailures) {
      // The call's log line has only the call's own failure.
      if (outcome.error?.cause === failure) plugins.failed(failure.plugin, failure.phase)
      else this.failedLate(id, failure)
    }
  }
}
