import { createHash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { withTimeout } from '../async/timeout.ts'
import type { ChainPlugin, HostLog, ProviderPlugin } from '../sdk/api.ts'
import { Secret } from '../sdk/secrets.ts'
import type { Position } from '../text/diagnostic.ts'

/** How long a plugin may take to close, in milliseconds. */
const CLOSE_MS = 10_000

/** What makes two instances the same one: the same plugin, at the same place, with the same config. */
export interface InstanceIdentity {
  readonly plugin: ChainPlugin | ProviderPlugin
  /** `chain plugin audit`, `namespace openai` */
  readonly place: string
  readonly config: unknown
  /** Its place in routes.yaml; not part of the identity. Absent: it has none there. */
  readonly at?: Position
  /** The path of its entry there. */
  readonly path?: readonly (string | number)[]
}

/** What a plugin's `create` threw, as its cause, and where the plugin stands. */
export class CreateFailure extends Error {
  override readonly name = 'CreateFailure'
  readonly identity: InstanceIdentity

  constructor(identity: InstanceIdentity, cause: unknown) {
    super(`${identity.place}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.identity = identity
  }
}

/** An instance as its host knows it. */
export interface InstanceContext {
  /** The plugin's name. */
  readonly plugin: string
  /** `routes.yaml:12:5`, in the table in use. */
  readonly at: string
  /** The folder of routes.yaml. */
  readonly directory: string
  /** Aborted when the instance is closed. */
  readonly signal: AbortSignal
}

/** What is made of a plugin. */
export interface Closable {
  close?(): void | Promise<void>
}

/** The configured plugins of a gateway: each lives for as long as a generation uses it. */
export class InstancePool {
  readonly #log: HostLog
  /** By identity. */
  readonly #instances = new Map<string, Set<Instance>>()

  constructor(log: HostLog) {
    this.#log = log
  }

  /** One of this identity that is not among those taken already: a chain may have two links that are alike. */
  find(identity: InstanceIdentity, isTaken: (instance: Instance) => boolean): Instance | undefined {
    const { plugin } = identity
    for (const instance of this.#instances.get(keyOf(identity)) ?? [])
      if (instance.isOf(plugin) && !isTaken(instance)) return instance
    return undefined
  }

  add(instance: Instance): void {
    const alike = this.#instances.get(instance.key) ?? new Set()
    this.#instances.set(instance.key, alike.add(instance))
  }

  /** Closes what its last user gave back. One that throws or hangs is logged and does not keep the others open. */
  async close(instance: Instance): Promise<void> {
    const alike = this.#instances.get(instance.key)
    alike?.delete(instance)
    if (alike?.size === 0) this.#instances.delete(instance.key)
    try {
      await withTimeout(CLOSE_MS, instance.close())
    } catch (err) {
      this.#log.error({ plugin: instance.plugin, err }, 'close failed')
    }
  }
}

/** The instances that one generation uses: its own, and those it has carried over from the generation before. */
export class InstanceLeases {
  readonly #pool: InstancePool
  readonly #taken = new Map<Instance, Position | undefined>()
  #creating: InstanceIdentity | undefined

  constructor(pool: InstancePool) {
    this.#pool = pool
  }

  /** The plugin whose `create` is running. */
  get creating(): InstanceIdentity | undefined {
    return this.#creating
  }

  /**
   * The instance of this identity: the one that another generation uses, or one that `make` makes. Throws a CreateFailure with what
   * `make` throws.
   */
  async take<Made extends Closable>(identity: InstanceIdentity, make: (life: InstanceContext) => Promise<Made>): Promise<Made> {
    const known = this.#pool.find(identity, (instance) => this.#taken.has(instance))
    const instance = known ?? (await this.#make(identity, make))
    instance.users++
    this.#taken.set(instance, identity.at)
    // Instances of one identity are all made by calls of this method with the same type.
    return instance.made as Made
  }

  /** The generation serves from now on: what is carried over stands where the new table has it. */
  moveToOwnPlaces(): void {
    for (const [instance, at] of this.#taken) instance.move(at)
  }

  /** Gives all of them back, those taken last first. An instance without another user is closed. */
  async close(): Promise<void> {
    for (const instance of [...this.#taken.keys()].reverse()) {
      instance.users--
      if (instance.users === 0) await this.#pool.close(instance)
    }
    this.#taken.clear()
  }

  async #make(identity: InstanceIdentity, make: (life: InstanceContext) => Promise<Closable>): Promise<Instance> {
    const instance = new Instance(identity)
    this.#creating = identity
    try {
      instance.made = await make(instance)
    } catch (cause) {
      throw new CreateFailure(identity, cause)
    } finally {
      this.#creating = undefined
    }
    this.#pool.add(instance)
    return instance
  }
}

/** One configured plugin. */
class Instance implements InstanceContext {
  readonly plugin: string
  /** How many generations use it. */
  users = 0
  made: Closable = {}
  readonly key: string
  readonly #identity: InstanceIdentity
  readonly #abort = new AbortController()
  #at: Position | undefined

  constructor(identity: InstanceIdentity) {
    this.plugin = identity.plugin.name
    this.#identity = identity
    this.key = keyOf(identity)
    this.#at = identity.at
  }

  get at(): string {
    return this.#at === undefined ? this.#identity.place : `${this.#at.file}:${this.#at.line}:${this.#at.column}`
  }

  get directory(): string {
    return dirname(resolve(this.#at?.file ?? 'routes.yaml'))
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  isOf(plugin: ChainPlugin | ProviderPlugin): boolean {
    return this.#identity.plugin === plugin
  }

  move(at: Position | undefined): void {
    this.#at = at
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.made.close?.()
  }
}

/** The same for the same place and config. */
const keyOf = ({ place, config }: InstanceIdentity): string => JSON.stringify([place, fingerprint(config)])

/**
 * Tells whether two configs are the same, secrets' values included, without holding a secret: a digest of what the config says,
 * whatever the order in which it says it.
 */
function fingerprint(config: unknown): string {
  return sha256(JSON.stringify(config, canonical) ?? '')
}

/** `this` is the object that holds the value: a Secret makes itself unreadable before the value is handed on. */
function canonical(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const held = this[key]
  if (held instanceof Secret) return sha256(held.reveal())
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
