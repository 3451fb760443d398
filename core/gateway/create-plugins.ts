import type { SecureContext } from 'node:tls'
import { yieldIfLong } from '../async/long-work.ts'
import type { ConfigFile } from '../config/file/config-file.ts'
import { formatPath, type Path } from '../config/file/path.ts'
import type { ReadConfig } from '../config/load.ts'
import { addFrames } from '../config/report.ts'
import { createHost, type HostServices } from '../plugins/host.ts'
import { CreateFailure, type InstanceIdentity, InstanceLeases, type InstancePool } from '../plugins/instances.ts'
import { servicesOutsideLinks } from '../plugins/link-context.ts'
import { type Credential, CredentialPool } from '../routing/credentials.ts'
import { ModelDiscovery } from '../routing/discovery.ts'
import { Handlers } from '../routing/handler.ts'
import { type ChainPlugin, InvalidConfig, type ProviderPlugin } from '../sdk/api.ts'
import { ConfigError, type Diagnostic } from '../text/diagnostic.ts'
import { type Connector, UpstreamClient } from '../upstream/client.ts'
import { getJsonBy } from '../upstream/get-json.ts'
import { secureContextOf, type UpstreamTls } from '../upstream/tls.ts'

/** The services that plugins are created with. */
export interface CreatorServices extends HostServices {
  /** Opens connections to an upstream. `context`: by its own settings of TLS. */
  connector(context?: SecureContext): Connector
}

/** Creates links and providers, or takes those that another generation uses. Throws a CreateFailure. */
export class PluginCreator {
  readonly #services: CreatorServices
  readonly #instances: InstanceLeases

  constructor(services: CreatorServices, instances: InstanceLeases) {
    this.#services = services
    this.#instances = instances
  }

  createLink(identity: InstanceIdentity & { readonly plugin: ChainPlugin; readonly isBuiltIn: boolean }) {
    const { plugin, isBuiltIn, config } = identity
    return this.#instances.take(identity, async (context) => {
      const services = isBuiltIn ? this.#services : servicesOutsideLinks(this.#services)
      const created = await plugin.create(config as never, createHost(services, context))
      if (typeof created?.handle !== 'function') throw new Error('create() must return a link: { handle(ctx, next) { … } }')
      return created
    })
  }

  /**
   * Creates a provider, for each of its credentials if it has several, the discovery of its models, and its own client if it has `tls`.
   * They outlive a reload that does not change them.
   */
  createProvider(identity: ProviderIdentity, { tls, credentials }: UpstreamSettings = {}) {
    const { plugin, config } = identity
    const settings = { tls, credentials: credentials && [...credentials] }
    const isPlain = tls === undefined && credentials === undefined
    return this.#instances.take(isPlain ? identity : { ...identity, config: { config, ...settings } }, async (context) => {
      const connector = tls && this.#services.connector(secureContextOf(tls))
      const services = connector === undefined ? this.#services : { ...this.#services, getJson: getJsonBy(connector) }
      const client = connector && new UpstreamClient(connector)
      const host = createHost(services, context)
      const created: Credential[] = []
      const close = async (): Promise<void> => {
        for (const { provider } of created) await provider.close?.()
        await client?.close()
      }
      try {
        for (const [name, own] of credentials ?? [[ONLY, config]]) {
          const provider = await createWith(name, () => plugin.create(own as never, host))
          if (typeof provider?.request !== 'function')
            throw new Error('create() must return a provider: { request(call) { … } … }')
          created.push({ name, provider, handlers: new Handlers(provider) })
        }
      } catch (error) {
        await close()
        throw error
      }
      const providers = created.map(({ provider }) => provider)
      return {
        provider: providers[0]!,
        handlers: created[0]!.handlers,
        credentials: credentials && new CredentialPool(created),
        catalogue: new ModelDiscovery(providers, host.log),
        client,
        close,
      }
    })
  }
}

type ProviderIdentity = InstanceIdentity & { readonly plugin: ProviderPlugin }

/** What a namespace configures in addition to its provider. */
interface UpstreamSettings {
  readonly tls?: UpstreamTls | undefined
  /** The configs of several credentials, by name. */
  readonly credentials?: ReadonlyMap<string, unknown> | undefined
}

/** The name of the only credential, which routes.yaml does not name. */
const ONLY = ''

/** What `create` threw for one of several credentials. */
class CredentialFailure extends Error {
  override readonly name = 'CredentialFailure'
  readonly credential: string

  constructor(credential: string, cause: unknown) {
    const message = cause instanceof Error ? cause.message : String(cause)
    super(`credential ${JSON.stringify(credential)}: ${message}`, { cause })
    this.credential = credential
  }
}

async function createWith<Created>(credential: string, create: () => Created | Promise<Created>): Promise<Created> {
  try {
    return await create()
  } catch (cause) {
    throw credential === ONLY ? cause : new CredentialFailure(credential, cause)
  }
}

/** The place of a link in errors. */
export const placeOfLink = ({ name }: ChainPlugin): string => `chain plugin ${name}`
/** The place of a namespace in errors. */
export const placeOfNamespace = (name: string): string => `namespace ${name}`

/** Collects the errors of plugins' `create` functions, so that all are told at once. */
export class CreateErrors {
  readonly diagnostics: Diagnostic[] = []
  readonly #read: () => Promise<ConfigFile>
  #file: ConfigFile | undefined

  /** `read`: parses routes.yaml, once something is wrong with it. */
  constructor(read: () => Promise<ConfigFile>) {
    this.#read = read
  }

  /** Creates one after the other, in the order of routes.yaml. Goes on after a CreateFailure or a ConfigError. */
  async collect<Entry, Created>(
    entries: Iterable<Entry>,
    create: (entry: Entry) => Promise<Created>,
  ): Promise<readonly Created[]> {
    const created: Created[] = []
    for (const entry of entries) {
      await yieldIfLong()
      try {
        created.push(await create(entry))
      } catch (error) {
        if (error instanceof CreateFailure) {
          this.#file ??= await this.#read()
          this.diagnostics.push(...diagnosticsOf(error, this.#file))
        } else if (error instanceof ConfigError) this.diagnostics.push(...error.diagnostics)
        else throw error
      }
    }
    return created
  }
}

/**
 * The problems of a file that is not valid, together with those that plugins have with their configs: each plugin whose config fits its
 * schema is created, and closed again.
 */
export async function withCreateErrors(
  { file, diagnostics, links, providers }: Omit<ReadConfig, 'config'>,
  services: CreatorServices,
  pool: InstancePool,
): Promise<readonly Diagnostic[]> {
  const instances = new InstanceLeases(pool)
  const creator = new PluginCreator(services, instances)
  const errors = new CreateErrors(async () => file)
  const standing = (path: Path) => ({ path, at: file.position(file.keySpan(path)) })
  await errors.collect(links, ([path, link]) =>
    creator.createLink({ ...link, ...standing(path), place: placeOfLink(link.plugin) }),
  )
  await errors.collect(providers, ([path, provider]) =>
    creator.createProvider({ ...provider, ...standing(path), place: placeOfNamespace(String(path[1])) }, provider),
  )
  await instances.close()
  // What the checks have found already is one mistake.
  const isKnown = ({ line, column }: Diagnostic) => diagnostics.some((known) => known.line === line && known.column === column)
  const others = addFrames(
    errors.diagnostics.filter((each) => !isKnown(each)),
    file.text,
  )
  return [...diagnostics, ...others].sort((a, b) => a.line - b.line || a.column - b.column)
}

/** What a plugin's `create` refused: at the fields of its config that it names, or else at its entry in routes.yaml. */
function diagnosticsOf({ message, cause, identity }: CreateFailure, file: ConfigFile): readonly Diagnostic[] {
  const { at = NOWHERE, path = [] } = identity
  const credential = cause instanceof CredentialFailure ? [...path, 'credentials', cause.credential] : undefined
  const reason = cause instanceof CredentialFailure ? cause.cause : cause
  if (!(reason instanceof InvalidConfig)) {
    const position = credential === undefined ? at : { ...file.position(file.keySpan(credential)), file: at.file }
    return [{ ...position, message, frame: '' }]
  }
  return reason.problems.map((problem) => {
    const places = [credential, [...path, 'config']].map((base) => base && [...base, ...problem.path])
    const place = places.find((each) => each !== undefined && file.has(each)) ?? [...path, 'config', ...problem.path]
    const span = file.has(place) ? file.valueSpan(place) : file.keySpan(credential ?? path)
    return { ...file.position(span), file: at.file, message: `${formatPath(place)} ${problem.message}`, frame: '' }
  })
}

const NOWHERE = { file: 'routes.yaml', line: 1, column: 1 }
