import { yieldIfLong } from '../async/long-work.ts'
import { SerialQueue } from '../async/serial-queue.ts'
import type { Generation } from '../call/generation.ts'
import type { Config } from '../config/config.ts'
import { diffConfigs } from '../config/diff.ts'
import { FilesRead, type FileTexts } from '../config/file/files-read.ts'
import { FileWatch } from '../config/watch.ts'
import type { ConfigState, ReloadOutcome, ReloadTrigger } from '../control/services.ts'
import { noticesOfStart } from '../limits/prices/notices.ts'
import { InstancePool } from '../plugins/instances.ts'
import { ConfigError, type Diagnostic } from '../text/diagnostic.ts'
import { LiveGeneration, type LiveServices } from './live-generation.ts'
import { type LoadOptions, loadGeneration, startOf } from './load.ts'

/** Other processes that serve calls by the same version of routes.yaml. All of them change to a new one, or none. */
export interface Followers {
  /** Builds a generation of these files. Resolves to the problems; empty if it can be activated. */
  prepare(files: FileTexts): Promise<readonly Diagnostic[]>
  /** Serves new calls by the generation that was prepared. */
  activate(): Promise<void>
  /** Drops the generation that was prepared. */
  discard(): void
}

/** A reload that has ended. */
export interface Reload extends Pick<ReloadOutcome, 'ok' | 'diagnostics'> {
  readonly trigger: ReloadTrigger
  /** Absolute path. */
  readonly file: string
  /** Of the texts in use before and after it. */
  readonly sha256: readonly [before: string, after: string]
}

/** The options of a Reloader. */
export interface ReloadOptions extends Omit<LoadOptions, 'pool'> {
  readonly services: LiveServices
  readonly followers?: Followers
  /** Called with each version that is put in use. Never rejects. */
  readonly onActive: (config: Config) => Promise<void>
  /** Called after each reload. Never rejects. */
  readonly onReload: (reload: Reload) => Promise<void>
  /** Files to start with, instead of those on disk: what other processes serve by already. */
  readonly files?: FileTexts
}

const NO_FOLLOWERS: Followers = {
  prepare: async () => [],
  activate: async () => undefined,
  discard: () => undefined,
}

/**
 * Replaces the Generation that serves new calls when routes.yaml or a file that it refers to changes, and on request. If routes.yaml is
 * not valid, the previous Generation stays in use.
 */
export class Reloader {
  readonly live: LiveGeneration
  readonly #options: ReloadOptions & LoadOptions
  readonly #followers: Followers
  readonly #watch = new FileWatch(() => this.#checkFiles())
  #files: FilesRead
  /** The texts that the Generation in use was built from. */
  #texts: FileTexts
  #loadedAt = Date.now()
  #lastReload: ReloadOutcome | undefined
  readonly #queue = new SerialQueue()
  /** The reload that is queued and has not started. */
  #pending: Promise<ReloadOutcome> | undefined

  private constructor(options: ReloadOptions & LoadOptions, first: Generation, files: FilesRead) {
    this.#options = options
    this.#followers = options.followers ?? NO_FOLLOWERS
    this.#files = files
    this.#texts = files.texts
    this.live = new LiveGeneration(options.services, first)
    this.#watchFiles(files)
  }

  /** Loads the first Generation. Throws a ConfigError if routes.yaml is not valid. */
  static async start(options: ReloadOptions): Promise<Reloader> {
    const all = { ...options, pool: new InstancePool(options.services.log) }
    const files = new FilesRead(options.files)
    const reloader = new Reloader(all, await loadGeneration(all, files), files)
    await options.onActive(reloader.live.generation.config)
    return reloader
  }

  /** Runs `bring`, which brings another process to the files in use, while no reload runs. */
  follow(bring: (files: FileTexts) => Promise<void>): Promise<void> {
    return this.#queue.run(() => bring(this.#texts))
  }

  get state(): ConfigState {
    const { file, text, sha256 } = this.live.generation.config
    return { file, text, sha256, loadedAt: this.#loadedAt, ...(this.#lastReload && { lastReload: this.#lastReload }) }
  }

  /** Notices about routes.yaml, for the operator. `hasBudgets`: the database has budgets. */
  notices(hasBudgets: boolean): readonly string[] {
    const { config, prices } = this.live.generation
    return [...config.notices, ...noticesOfStart(config, prices, hasBudgets)]
  }

  /** Reloads routes.yaml. Requests during a reload share the next one. Never rejects. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    this.#pending ??= this.#queue.run(() => {
      this.#pending = undefined
      return this.#reload(trigger)
    })
    return this.#pending
  }

  /** Closes all plugins. No call may be open. */
  async close(): Promise<void> {
    this.#watch.close()
    await this.#queue.ended()
    await this.live.close()
  }

  #checkFiles(): void {
    void this.#queue.run(async () => {
      // Before the check, so that no change is missed: links and folders may have been replaced.
      this.#watch.follow(this.#files.paths)
      if (await this.#files.changed()) await this.#reload('file')
    })
  }

  async #reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    const files = new FilesRead()
    const at = Date.now()
    const { sha256: before } = this.state
    let outcome: ReloadOutcome
    try {
      const generation = await this.#loadEverywhere(files)
      await yieldIfLong()
      const difference = diffConfigs(this.live.generation.config, generation.config)
      await yieldIfLong()
      this.live.replace(generation)
      await this.#followers.activate()
      await this.#options.onActive(generation.config)
      this.#texts = files.texts
      this.#loadedAt = Date.now()
      outcome = { at, ok: true, diagnostics: [], difference }
    } catch (error) {
      outcome = { at, ok: false, diagnostics: this.#diagnosticsOf(error), difference: [] }
    }
    this.#lastReload = outcome
    this.#report(trigger, outcome)
    const { file, sha256 } = this.state
    await this.#options.onReload({ ...outcome, trigger, file, sha256: [before, sha256] })
    this.#watchFiles(files)
    return outcome
  }

  /** Throws a ConfigError if this process or a follower cannot load the files. */
  async #loadEverywhere(files: FilesRead): Promise<Generation> {
    const generation = await loadGeneration(this.#options, files)
    const problems = await this.#followers.prepare(files.texts)
    if (problems.length === 0) return generation
    this.#followers.discard()
    await generation.retire()
    throw new ConfigError(problems)
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
