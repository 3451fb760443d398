import type { Config } from '../config/config.ts'
import { diffConfigs } from '../config/diff.ts'
import { FilesRead } from '../config/file/files-read.ts'
import { FileWatch } from '../config/watch.ts'
import type { ConfigState, ReloadOutcome, ReloadTrigger } from '../control/services.ts'
import type { Generation } from '../http/generation.ts'
import type { KeyDirectory } from '../keys/directory.ts'
import type { CallMetrics } from '../observe/call-metrics.ts'
import type { GatewayMetrics } from '../observe/gateway-metrics.ts'
import { InstancePool } from '../plugins/instances.ts'
import { ConfigError, type Diagnostic } from '../text/diagnostic.ts'
import type { GenerationServices } from './build-generation.ts'
import { type LoadOptions, loadGeneration, startOf } from './load.ts'

/** The options of a Reloader. */
export interface ReloadOptions extends Omit<LoadOptions, 'pool'> {
  readonly services: GenerationServices & {
    readonly calls: CallMetrics
    readonly gateway: GatewayMetrics
    readonly keys: KeyDirectory
  }
}

/**
 * Owns the Generation that serves new calls. Replaces it when routes.yaml or a file that it refers to changes, and on request. If
 * routes.yaml is not valid, the previous Generation stays in use.
 */
export class Reloader {
  /** The Generation that serves new calls. */
  readonly live: { generation: Generation }
  readonly #options: ReloadOptions & LoadOptions
  readonly #watch = new FileWatch(() => this.#checkFiles())
  readonly #retiring = new Set<Promise<void>>()
  #files = new FilesRead()
  #loadedAt = Date.now()
  #lastReload: ReloadOutcome | undefined
  /** The end of the queue: reloads run one after the other. */
  #queue: Promise<unknown> = Promise.resolve()
  /** The reload that is queued and has not started. */
  #pending: Promise<ReloadOutcome> | undefined

  private constructor(options: ReloadOptions & LoadOptions, first: Generation) {
    this.#options = options
    this.live = { generation: first }
    this.#activate(first)
  }

  /** Loads the first Generation. Throws a ConfigError if routes.yaml is not valid. */
  static async start(options: ReloadOptions): Promise<Reloader> {
    const all = { ...options, pool: new InstancePool(options.services.log) }
    const files = new FilesRead()
    const reloader = new Reloader(all, await loadGeneration(all, files))
    reloader.#watchFiles(files)
    return reloader
  }

  get state(): ConfigState {
    const { file, text, sha256 } = this.live.generation.config
    return { file, text, sha256, loadedAt: this.#loadedAt, ...(this.#lastReload && { lastReload: this.#lastReload }) }
  }

  /** Notices about routes.yaml, for the operator. */
  get notices(): readonly string[] {
    return this.live.generation.config.notices
  }

  /** Reloads routes.yaml. Requests during a reload share the next one. Never rejects. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    this.#pending ??= this.#enqueue(() => {
      this.#pending = undefined
      return this.#reload(trigger)
    })
    return this.#pending
  }

  /** Closes all plugins. No call may be open. */
  async close(): Promise<void> {
    this.#watch.close()
    await this.#queue
    this.#retire(this.live.generation)
    await Promise.all(this.#retiring)
  }

  #enqueue<Result>(run: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(run)
    this.#queue = result.catch(() => undefined)
    return result
  }

  #checkFiles(): void {
    void this.#enqueue(async () => {
      // Before the check, so that no change is missed: links and folders may have been replaced.
      this.#watch.follow(this.#files.paths)
      if (await this.#files.changed()) await this.#reload('file')
    })
  }

  async #reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    const files = new FilesRead()
    const at = Date.now()
    let outcome: ReloadOutcome
    try {
      const generation = await loadGeneration(this.#options, files)
      const difference = diffConfigs(this.live.generation.config, generation.config)
      this.#replace(generation)
      outcome = { at, ok: true, diagnostics: [], difference }
    } catch (error) {
      outcome = { at, ok: false, diagnostics: this.#diagnosticsOf(error), difference: [] }
    }
    this.#lastReload = outcome
    this.#report(trigger, outcome)
    this.#watchFiles(files)
    return outcome
  }

  #replace(generation: Generation): void {
    const previous = this.live.generation
    this.#loadedAt = Date.now()
    this.#activate(generation)
    this.#retire(previous)
  }

  #activate(generation: Generation): void {
    const { services } = this.#options
    const { config } = generation
    this.live.generation = generation
    generation.begin(services.states)
    services.keys.declare(config.keys)
    services.calls.declare(modelsByNamespace(config))
    services.gateway.configLoaded(config)
  }

  #retire(generation: Generation): void {
    const retiring = generation.retire().finally(() => {
      this.#options.services.gateway.configRetired()
      this.#retiring.delete(retiring)
    })
    this.#retiring.add(retiring)
  }

  /** Watches these files, and checks them once: they may have changed while they were read. */
  #watchFiles(files: FilesRead): void {
    this.#files = files
    this.#watch.follow(files.paths)
    this.#watch.touch()
  }

  #report(trigger: ReloadTrigger, { ok, difference, diagnostics }: ReloadOutcome): void {
    const { log, gateway } = this.#options.services
    gateway.configReloaded(ok ? 'success' : 'failure')
    if (ok) {
      const { notices, sha256 } = this.live.generation.config
      log.info({ trigger, sha256, difference, ...(notices.length > 0 && { notices }) }, 'routing table reloaded')
    } else {
      log.error({ trigger, diagnostics: diagnostics.map(onOneLine) }, 'routing table not reloaded: the previous one stays in use')
    }
  }

  #diagnosticsOf(error: unknown): readonly Diagnostic[] {
    if (error instanceof ConfigError) return error.diagnostics
    this.#options.services.log.error({ err: error }, 'routing table not reloaded: unexpected error')
    const message = 'an unexpected error occurred; the log of the gateway has its cause'
    return [{ ...startOf(this.#options), message, frame: '' }]
  }
}

const onOneLine = ({ file, line, column, message }: Diagnostic): string => `${file}:${line}:${column}: ${message}`

/** The models that routes.yaml names, by namespace. */
function modelsByNamespace({ namespaces, curated }: Config): ReadonlyMap<string, readonly string[]> {
  const routes = [...curated.values()].flatMap((namespace) => [...namespace.routes.values()])
  const targets = routes.flatMap((route) => [...route.targets, ...route.fallbacks]).map(({ model }) => model.split(/\/(.*)/s))
  const targetsIn = (name: string) => targets.filter(([namespace]) => namespace === name).map(([, model]) => model!)
  return new Map([
    ...[...namespaces.values()].map(({ name, models = [] }) => [name, [...models, ...targetsIn(name)]] as const),
    ...[...curated.values()].map(({ name, routes: own }) => [name, [...own.keys()]] as const),
  ])
}
