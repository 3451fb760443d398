import { withTimeout } from '../async/timeout.ts'
import { describeCause } from '../observe/describe-cause.ts'
import type { HostLog, Model, Provider } from '../sdk/api.ts'

/** How long a discovered list is valid, and the pause after a failed discovery, in milliseconds. */
const FRESH_MS = 5 * 60_000
const RETRY_MS = 30_000
/** The timeout of one discovery, in milliseconds. A listing that waits for it does not fail with it. */
const DISCOVERY_MS = 5_000

/** A request for the models of an upstream that failed. */
export interface FailedDiscovery {
  /** Milliseconds since 1970. */
  readonly at: number
  /** As the log says it: `ECONNREFUSED`, `UpstreamError 401`. */
  readonly cause: string
}

/** The models of one upstream, requested at most every few minutes. */
export class ModelDiscovery {
  readonly #discover: ((signal: AbortSignal) => Promise<readonly Model[]>) | undefined
  readonly #log: HostLog
  #models: readonly Model[] = []
  #ids: ReadonlySet<string> = new Set()
  #known = false
  #failure: FailedDiscovery | undefined
  #dueAt = 0
  #asking: Promise<void> | undefined

  /** `providers`: with each credential of the upstream. */
  constructor(providers: readonly Provider[], log: HostLog) {
    if (providers[0]?.models !== undefined) this.#discover = (signal) => discoverWithAny(providers, signal)
    this.#log = log
  }

  /** True if a model that is not listed does not exist: discovery is possible and has succeeded. */
  get complete(): boolean {
    return this.#known
  }

  /** Why the last discovery failed; undefined: it succeeded, or there was none. */
  get failure(): FailedDiscovery | undefined {
    return this.#failure
  }

  /** The ids of the last valid list. */
  get ids(): ReadonlySet<string> {
    return this.#ids
  }

  /** The models of the upstream; the last valid list if the upstream cannot be reached. */
  async models(): Promise<readonly Model[]> {
    if (this.#discover !== undefined && Date.now() >= this.#dueAt) {
      this.#asking ??= this.#ask(this.#discover).finally(() => {
        this.#asking = undefined
      })
    }
    await this.#asking
    return this.#models
  }

  async #ask(discover: (signal: AbortSignal) => Promise<readonly Model[]>): Promise<void> {
    try {
      // The source of a credential may not observe the signal.
      const found = await withTimeout(DISCOVERY_MS, discover(AbortSignal.timeout(DISCOVERY_MS)))
      this.#models = listable(found)
      this.#ids = new Set(this.#models.map(({ id }) => id))
      const skipped = found.length - this.#models.length
      if (skipped > 0) {
        this.#log.warn(
          { skipped, listed: this.#models.length },
          'the upstream lists models that are left out: ids that are none, or too many',
        )
      }
      this.#known = true
      this.#failure = undefined
      this.#dueAt = Date.now() + FRESH_MS
    } catch (err) {
      this.#dueAt = Date.now() + RETRY_MS
      this.#failure = { at: Date.now(), cause: describeCause(err) ?? 'unknown' }
      this.#log.warn({ err }, 'discovery of models failed')
    }
  }
}

/** The most models of an upstream, far above those of the largest catalogues, and the most characters of an id and an owner. */
const MAX_MODELS = 10_000
const MAX_NAME = 200

/** The models that may be listed, without members that clients do not get: an upstream can write anything. */
function listable(models: readonly Model[]): readonly Model[] {
  return models
    .filter(({ id }) => isName(id))
    .slice(0, MAX_MODELS)
    .map(({ id, created, owned_by, context_length }) => ({
      id,
      ...(Number.isSafeInteger(created) && { created }),
      ...(isName(owned_by) && { owned_by }),
      ...(Number.isSafeInteger(context_length) && { context_length }),
    }))
}

/** Whether a text can be a name: of letters that can be seen. */
const isName = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= MAX_NAME && /^[^\s\p{C}]+(?: [^\s\p{C}]+)*$/u.test(text)

/** Asks with the first credential that the upstream accepts. Throws what it says to the last one. */
async function discoverWithAny(providers: readonly Provider[], signal: AbortSignal): Promise<readonly Model[]> {
  for (const provider of providers.slice(0, -1)) {
    try {
      return await provider.models!(signal)
    } catch {
      // The next credential may be accepted.
    }
  }
  return providers.at(-1)!.models!(signal)
}
