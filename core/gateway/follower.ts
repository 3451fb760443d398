import type { Generation } from '../call/generation.ts'
import { FilesRead, type FileTexts } from '../config/file/files-read.ts'
import { InstancePool } from '../plugins/instances.ts'
import { ConfigError, type Diagnostic } from '../text/diagnostic.ts'
import { LiveGeneration, type LiveServices } from './live-generation.ts'
import { type LoadOptions, loadGeneration } from './load.ts'

/** The options of a Follower. */
export interface FollowerOptions extends Omit<LoadOptions, 'pool' | 'services'> {
  readonly services: LiveServices & { readonly log: ConstructorParameters<typeof InstancePool>[0] }
}

/** Serves by the version of routes.yaml that the control process has, and changes to another one in two steps when told to. */
export class Follower {
  readonly #options: FollowerOptions & LoadOptions
  readonly #live = Promise.withResolvers<LiveGeneration>()
  #current: LiveGeneration | undefined
  #prepared: { readonly generation: Generation; readonly files: FileTexts } | undefined
  #files: FileTexts | null = null
  /** The number of the last preparation. */
  #preparation = 0

  constructor(options: FollowerOptions) {
    this.#options = { ...options, pool: new InstancePool(options.services.log) }
    this.#live.promise.catch(() => undefined)
  }

  /** Resolves once there is a generation that serves. Rejects if the first one cannot be built. */
  get live(): Promise<LiveGeneration> {
    return this.#live.promise
  }

  /** The texts that the generation in use was built from; null before the first one. */
  get files(): FileTexts | null {
    return this.#files
  }

  /**
   * Builds the generation of these files. Resolves to the problems; empty if it can be activated. Rejects if another preparation has begun
   * meanwhile: a control process may end after it has begun one, and its successor begins the one that counts.
   */
  async prepare(files: FileTexts): Promise<readonly Diagnostic[]> {
    const preparation = ++this.#preparation
    try {
      const generation = await loadGeneration(this.#options, new FilesRead(files))
      if (preparation !== this.#preparation) {
        void generation.retire()
        throw new Error('another version of routes.yaml is prepared')
      }
      this.discard()
      this.#prepared = { generation, files }
      return []
    } catch (error) {
      // Without effect if a generation is in use.
      if (preparation === this.#preparation) this.#live.reject(error)
      if (error instanceof ConfigError) return error.diagnostics
      throw error
    }
  }

  /** Serves new calls by the generation that was prepared. */
  activate(): void {
    if (this.#prepared === undefined) throw new Error('no version of routes.yaml was prepared')
    const { generation, files } = this.#prepared
    this.#prepared = undefined
    this.#files = files
    if (this.#current === undefined) {
      this.#current = new LiveGeneration(this.#options.services, generation)
      this.#live.resolve(this.#current)
    } else this.#current.replace(generation)
  }

  discard(): void {
    void this.#prepared?.generation.retire()
    this.#prepared = undefined
  }

  /** Closes all plugins. No call may be open. */
  async close(): Promise<void> {
    this.discard()
    await this.#current?.close()
  }
}
