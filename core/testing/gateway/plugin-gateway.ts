import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type ChainPlugin, type ProviderPlugin, Secret } from '../../sdk/api.ts'

/** A plugin and its configuration. */
export interface Configured<Plugin extends ChainPlugin | ProviderPlugin> {
  readonly plugin: Plugin
  readonly config?: PluginConfig
}

/** The routes.yaml of a gateway under test: its chain and its namespaces. */
export interface PluginRoutes {
  readonly chain: readonly Configured<ChainPlugin>[]
  readonly namespaces: Readonly<Record<string, Configured<ProviderPlugin>>>
}

/** A real gateway on a free loopback port, with the given plugins only. */
export interface PluginGateway {
  /** `http://127.0.0.1:12345` */
  readonly url: string
  /** Log lines so far, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
  stop(): Promise<void>
}

/**
 * Starts a gateway from a real routes.yaml: plugins are loaded and checked, secrets come from the environment. Throws the gateway's
 * error for an invalid configuration.
 */
export async function startPluginGateway(content: PluginRoutes): Promise<PluginGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-kit-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const { routes, env } = await write(folder, content)
    // Imported late: a test that only scripts an upstream does not load the whole gateway.
    const [{ startGateway }, { createLog }, { openStore }] = await Promise.all([
      import('../../gateway/gateway.ts'),
      import('../../observe/log.ts'),
      import('../../store/database.ts'),
    ])
    const log: Record<string, unknown>[] = []
    const gateway = await startGateway({
      routes,
      env,
      listen: { host: '127.0.0.1', port: 0 },
      store: await openStore('sqlite::memory:'),
      log: createLog({ level: 'info', stream: { write: (line) => void log.push(JSON.parse(line)) } }),
      version: 'test',
      workerThreads: 1,
      // Tests hold up the event loop, and share their machine with others.
      admission: { lag: Number.POSITIVE_INFINITY },
    })
    return {
      url: gateway.url,
      log,
      async stop() {
        await gateway.drain({ delay: 0, grace: 0 })
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Writes `routes.yaml` and a module for each plugin. Returns the file's path and the environment variables with the secrets. */
async function write(folder: string, { chain, namespaces }: PluginRoutes): Promise<{ routes: string; env: NodeJS.ProcessEnv }> {
  const env: NodeJS.ProcessEnv = {}
  const entryOf = async (field: 'plugin' | 'provider', { plugin, config = {} }: Configured<ChainPlugin | ProviderPlugin>) => {
    const module = `./${crypto.randomUUID()}.mjs`
    await writeFile(join(folder, module), registerPlugin(plugin))
    const withReferences = replaceSecrets(config, (secret) => {
      const name = `SECRET_${Object.keys(env).length}`
      env[name] = secret.reveal()
      return `\${env:${name}}`
    })
    return { [field]: module, config: withReferences }
  }
  const content = {
    version: 1,
    chain: await Promise.all(chain.map((link) => entryOf('plugin', link))),
    namespaces: Object.fromEntries(
      await Promise.all(
        Object.entries(namespaces).map(async ([name, provider]) => {
          // Tests make an upstream fail repeatedly.
          return [name, { ...(await entryOf('provider', provider)), breaker: false }] as const
        }),
      ),
    ),
  }
  const routes = join(folder, 'routes.yaml')
  await writeFile(routes, stringify(content))
  return { routes, env }
}

/** The plugins under test. The gateway imports each through a generated module, which gets it from here by its index. */
const REGISTERED: (ChainPlugin | ProviderPlugin)[] = []

/** Registers a plugin. Returns the source of a module that exports it. */
function registerPlugin(plugin: ChainPlugin | ProviderPlugin): string {
  const index = REGISTERED.push(plugin) - 1
  return `import { registeredPlugin } from ${JSON.stringify(import.meta.url)}\nexport default registeredPlugin(${index})\n`
}

/** The registered plugin with this index. */
export function registeredPlugin(index: number): ChainPlugin | ProviderPlugin | undefined {
  return REGISTERED[index]
}

/** A plugin's configuration as in `routes.yaml`, but with each credential as a `Secret`. */
export type PluginConfig = Readonly<Record<string, unknown>>

/** Returns the configuration with each `Secret` replaced. */
export function replaceSecrets(config: unknown, replace: (secret: Secret) => unknown): unknown {
  if (config instanceof Secret) return replace(config)
  if (Array.isArray(config)) return config.map((entry) => replaceSecrets(entry, replace))
  if (typeof config !== 'object' || config === null) return config
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, replaceSecrets(value, replace)]))
}
