import type { SecureContext } from 'node:tls'
import { ConfigFile } from '../config/file/config-file.ts'
import { formatPath, type Path } from '../config/file/path.ts'
import type { ReadConfig } from '../config/load.ts'
import { addFrames } from '../config/report.ts'
import { createHost, type HostServices } from '../plugins/host.ts'
import { CreateFailure, type InstanceIdentity, InstanceLeases, type InstancePool } from '../plugins/instances.ts'
import { ModelDiscovery } from '../routing/discovery.ts'
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

  createLink(identity: InstanceIdentity & { readonly plugin: ChainPlugin }) {
    const { plugin, config } = identity
    return this.#instances.take(identity, async (context) => {
      const created = await plugin.create(config as never, createHost(this.#services, context))
      if (typeof created?.handle !== 'function') throw new Error('create() must return a link: { handle(ctx, next) { … } }')
      return created
    })
  }

  /** Creates a provider, the discovery of its models, and its own client if it has `tls`. They outlive a reload that does not change them. */
  createProvider(identity: InstanceIdentity & { readonly plugin: ProviderPlugin }, tls?: UpstreamTls) {
    const { plugin, config } = identity
    return this.#instances.take(tls === undefined ? identity : { ...identity, config: { config, tls } }, async (context) => {
      const connector = tls && this.#services.connector(secureContextOf(tls))
      const services = connector === undefined ? this.#services : { ...this.#services, getJson: getJsonBy(connector) }
      const client = connector && new UpstreamClient(connector)
      const host = createHost(services, context)
      const provider = await plugin.create(config as never, host)
      if (typeof provider?.request !== 'function') throw new Error('create() must return a provider: { request(call) { … } … }')
      return {
        provider,
        catalogue: new ModelDiscovery(provider, host.log),
        client,
        async close() {
          await provider.close?.()
          await client?.close()
        },
      }
    })
  }
}

/** The place of a link in errors. */
export const placeOfLink = ({ name }: ChainPlugin): string => `chain plugin ${name}`
/** The place of a namespace in errors. */
export const placeOfNamespace = (name: string): string => `namespace ${name}`

/** Collects the errors of plugins' `create` functions, so that all are told at once. */
export class CreateErrors {
  readonly diagnostics: Diagnostic[] = []
  readonly #text: string

  /** `text`: of routes.yaml. */
  constructor(text: string) {
    this.#text = text
  }

  /** Creates one after the other, in the order of routes.yaml. Goes on after a CreateFailure or a ConfigError. */
  async collect<Entry, Created>(
    entries: Iterable<Entry>,
    create: (entry: Entry) => Promise<Created>,
  ): Promise<readonly Created[]> {
    const created: Created[] = []
    for (const entry of entries) {
      try {
        created.push(await create(entry))
      } catch (error) {
        if (error instanceof CreateFailure) this.diagnostics.push(...diagnosticsOf(error, this.#text))
        else if (error instanceof ConfigError) this.diagnostics.push(...error.diagnostics)
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
  const errors = new CreateErrors(file.text)
  const standing = (path: Path) => ({ path, at: file.position(file.keySpan(path)) })
  await errors.collect(links, ([path, link]) =>
    creator.createLink({ ...link, ...standing(path), place: placeOfLink(link.plugin) }),
  )
  await errors.collect(providers, ([path, provider]) =>
    creator.createProvider({ ...provider, ...standing(path), place: placeOfNamespace(String(path[1])) }),
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
function diagnosticsOf({ message, cause, identity }: CreateFailure, text: string): readonly Diagnostic[] {
  const { at = NOWHERE, path = [] } = identity
  if (!(cause instanceof InvalidConfig)) return [{ ...at, message, frame: '' }]
  const file = new ConfigFile(at.file, text)
  return cause.problems.map((problem) => {
    const place = [...path, 'config', ...problem.path]
    const span = file.has(place) ? file.valueSpan(place) : file.keySpan(path)
    return { ...file.position(span), message: `${formatPath(place)} ${problem.message}`, frame: '' }
  })
}

const NOWHERE = { file: 'routes.yaml', line: 1, column: 1 }
