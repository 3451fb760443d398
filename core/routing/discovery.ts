import { withTimeout } from '../async/timeout.ts'
import { describeCause } from '../observe/describe-cause.ts'
import type { HostLog, Model, ModelCapabilities, Provider } from '../sdk/api.ts'
import { isRecord } from '../sdk/json.ts'

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
          'the upstream lists models that are left out: their ids are not valid, or there are too many',
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
const listable = (models: readonly Model[]): readonly Model[] =>
  models
    .filter(({ id }) => isName(id))
    .slice(0, MAX_MODELS)
    .map(readable)

function readable(model: Model): Model {
  const { id, created, owned_by, context_length, name, max_output_tokens, capabilities } = model
  const lists = LISTS.flatMap((member) => {
    const list = listOf(model[member])
    return list === undefined ? [] : [[member, list] as const]
  })
  const able = capabilities && capabilitiesOf(capabilities)
  return {
    id,
    ...(isTime(created) && { created }),
    ...(isName(owned_by) && { owned_by }),
    ...(Number.isSafeInteger(context_length) && { context_length }),
    ...(isName(name) && { name }),
    ...(Number.isSafeInteger(max_output_tokens) && { max_output_tokens }),
    ...Object.fromEntries(lists),
    ...(able && { capabilities: able }),
  }
}

const LISTS = ['input_modalities', 'output_modalities', 'supported_parameters'] as const

/** The most entries of a list and of a table of capabilities, and how deep these may be. */
const MAX_ENTRIES = 100
const MAX_DEPTH = 4

function listOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_ENTRIES || !value.every(isWord)) return undefined
  return [...new Set<string>(value)]
}

/** Undefined if anything in it is neither a table nor says yes or no. */
function capabilitiesOf(value: unknown, depth = 1): ModelCapabilities | undefined {
  if (!isRecord(value) || depth > MAX_DEPTH) return undefined
  const entries = Object.entries(value)
  if (entries.length > MAX_ENTRIES) return undefined
  const read = entries.map(([name, entry]) => {
    const isPlain = entry === null || typeof entry === 'boolean'
    return [name, isPlain ? entry : capabilitiesOf(entry, depth + 1)] as const
  })
  const isRead = read.every(([name, entry]) => isWord(name) && entry !== undefined)
  return isRead ? (Object.fromEntries(read) as ModelCapabilities) : undefined
}

const isWord = (text: unknown): text is string => typeof text === 'string' && /^(?!__proto__$)[\w.-]{1,64}$/.test(text)

/** The last second of the year 9999: later ones have no usual form as a text. */
const LAST_SECOND = 253_402_300_799

const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LAST_SECOND

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
