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

/** What tables are loaded with. */
export interface ReloadOptions extends Omit<LoadOptions, 'pool'> {
  readonly services: GenerationServices & {
    readonly calls: CallMetrics
    readonly gateway: GatewayMetrics
    readonly keys: KeyDirectory
  }
}

/**
 * Keeps the generation that serves new calls, and replaces it as a whole when the routing table or a file it refers to changes, or
 * when somebody asks. What is wrong changes nothing.
 */
export class Reloader {
  /** The generation that serves new calls. */
  readonly live: { generation: Generation }
  readonly #source: ReloadOptions & LoadOptions
  readonly #watch = new FileWatch(() => this.#look())
  readonly #retiring = new Set<Promise<void>>()
  #files = new FilesRead()
  #loadedAt = Date.now()
  #lastReload: ReloadOutcome | undefined
  /** Reloads come one after the other. */
  #turn: Promise<unknown> = Promise.resolve()
  #waiting: Promise<ReloadOutcome> | undefined

  private constructor(source: ReloadOptions & LoadOptions, first: Generation) {
    this.#source = source
    this.live = { generation: first }
    this.#begin(first)
  }

  /** Loads the first table. Throws a ConfigError where it is wrong. */
  static async start(options: ReloadOptions): Promise<Reloader> {
    const source = { ...options, pool: new InstancePool(options.services.log) }
    const files = new FilesRead()
    const reloader = new Reloader(source, await loadGeneration(source, files))
    reloader.#follow(files)
    return reloader
  }

  get state(): ConfigState {
    const { file, text, sha256 } = this.live.generation.config
    return { file, text, sha256, loadedAt: this.#loadedAt, ...(this.#lastReload && { lastReload: this.#lastReload }) }
  }

  /** What the operator should know of the table. */
  get notices(): readonly string[] {
    return this.live.generation.config.notices
  }

  /** Reads the table again, and puts it in use where nothing is wrong with it. Never rejects. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    // One that waits for its turn has read nothing yet: whoever asks meanwhile shares it.
    this.#waiting ??= this.#inTurn(() => {
      this.#waiting = undefined
      return this.#reload(trigger)
    })
    return this.#waiting
  }

  /** Once nothing is served any more: closes all plugins. */
  async close(): Promise<void> {
    this.#watch.close()
    await this.#turn
    this.#retire(this.live.generation)
    await Promise.all(this.#retiring)
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }

  #look(): void {
    void this.#inTurn(async () => {
      // First, so that no change falls between: links and folders may have been replaced by others.
      this.#watch.follow(this.#files.paths)
      if (await this.#files.changed()) await this.#reload('file')
    })
  }

  async #reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    const files = new FilesRead()
    const at = Date.now()
    let outcome: ReloadOutcome
    try {
      const generation = await loadGeneration(this.#source, files)
      const changes = diffConfigs(this.live.generation.config, generation.config)
      this.#swap(generation)
      outcome = { at, ok: true, diagnostics: [], difference: changes }
    } catch (error) {
      outcome = { at, ok: false, diagnostics: this.#diagnosticsOf(error), difference: [] }
    }
    this.#lastReload = outcome
    this.#tell(trigger, outcome)
    this.#follow(files)
    return outcome
  }

  #swap(generation: Generation): void {
    const before = this.live.generation
    this.#loadedAt = Date.now()
    this.#begin(generation)
    this.#retire(before)
  }

  #begin(generation: Generation): void {
    const { services } = this.#source
    const { config } = generation
    this.live.generation = generation
    generation.begin(services.states)
    services.keys.declare(config.keys)
    services.calls.declare(namesOf(config))
    services.gateway.configLoaded(config)
  }

  #retire(generation: Generation): void {
    const retiring = generation.retire().finally(() => {
      this.#source.services.gateway.configRetired()
      this.#retiring.delete(retiring)
    })
    this.#retiring.add(retiring)
  }

  /** What was changed while it was read shows when it is looked at again. */
  #follow(files: FilesRead): void {
    this.#files = files
    this.#watch.follow(files.paths)
    this.#watch.touch()
  }

  #tell(trigger: ReloadTrigger, { ok, difference, diagnostics }: ReloadOutcome): void {
    const { log, gateway } = this.#source.services
    gateway.configReloaded(ok ? 'success' : 'failure')
    if (ok) {
      const { notices, sha256 } = this.live.generation.config
      log.info({ trigger, sha256, difference, ...(notices.length > 0 && { notices }) }, 'routing table reloaded')
    } else {
      log.error({ trigger, diagnostics: diagnostics.map(inOneLine) }, 'routing table not reloaded: the one before stays in use')
    }
  }

  #diagnosticsOf(error: unknown): readonly Diagnostic[] {
    if (error instanceof ConfigError) return error.diagnostics
    this.#source.services.log.error({ err: error }, 'routing table not reloaded: an error that nobody foresaw')
    const message = 'loading it failed: the log of the gateway says why'
    return [{ ...startOf(this.#source), message, frame: '' }]
  }
}

const inOneLine = ({ file, line, column, message }: Diagnostic): string => `${file}:${line}:${column}: ${message}`

/** The models that the table names, by namespace. */
function namesOf({ namespaces, curated }: Config): ReadonlyMap<string, readonly string[]> {
  const routes = [...curated.values()].flatMap((namespace) => [...namespace.routes.values()])
  const targets = routes.flatMap((route) => [...route.targets, ...route.fallbacks]).map(({ model }) => model.split(/\/(.*)/s))
  const targetsIn = (name: string) => targets.filter(([namespace]) => namespace === name).map(([, model]) => model!)
  return new Map([
    ...[...namespaces.values()].map(({ name, models = [] }) => [name, [...models, ...targetsIn(name)]] as const),
    ...[...curated.values()].map(({ name, routes: own }) => [name, [...own.keys()]] as const),
  ])
}
