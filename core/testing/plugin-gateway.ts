import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type ChainPlugin, type ProviderPlugin, Secret } from '../sdk/api.ts'

/** A plugin and its configuration. */
export interface Configured<Plugin extends ChainPlugin | ProviderPlugin> {
  readonly plugin: Plugin
  readonly config?: PluginConfig
}

/** What stands in the table of a gateway under test. */
export interface PluginTable {
  readonly chain: readonly Configured<ChainPlugin>[]
  readonly namespaces: Readonly<Record<string, Configured<ProviderPlugin>>>
}

/** A real gateway on a free port of loopback, with nothing in it but the plugins of its table. */
export interface PluginGateway {
  /** `http://127.0.0.1:12345` */
  readonly url: string
  /** Log lines so far, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
  stop(): Promise<void>
}

/**
 * Starts a gateway that reads its table as any other does: plugins are loaded and checked, secrets come from the environment. Throws
 * what an operator would be told.
 */
export async function startPluginGateway(table: PluginTable): Promise<PluginGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-kit-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const { routes, env } = await write(folder, table)
    // Late, because a test that only scripts an upstream need not wait for all of the gateway to be loaded.
    const [{ startGateway }, { createLog }, { openStore }] = await Promise.all([
      import('../gateway/gateway.ts'),
      import('../observe/log.ts'),
      import('../store/database.ts'),
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

/** Writes `routes.yaml` and a module for each plugin. Returns the file's path, and the variables that hold the secrets. */
async function write(folder: string, { chain, namespaces }: PluginTable): Promise<{ routes: string; env: NodeJS.ProcessEnv }> {
  const env: NodeJS.ProcessEnv = {}
  const entryOf = async (field: 'plugin' | 'provider', { plugin, config = {} }: Configured<ChainPlugin | ProviderPlugin>) => {
    const module = `./${crypto.randomUUID()}.mjs`
    await writeFile(join(folder, module), handOver(plugin))
    const withReferences = replaceSecrets(config, (secret) => {
      const name = `SECRET_${Object.keys(env).length}`
      env[name] = secret.reveal()
      return `\${env:${name}}`
    })
    return { [field]: module, config: withReferences }
  }
  const table = {
    version: 1,
    chain: await Promise.all(chain.map((link) => entryOf('plugin', link))),
    namespaces: Object.fromEntries(
      await Promise.all(
        Object.entries(namespaces).map(async ([name, provider]) => {
          // Tests make an upstream fail again and again.
          return [name, { ...(await entryOf('provider', provider)), breaker: false }] as const
        }),
      ),
    ),
  }
  const routes = join(folder, 'routes.yaml')
  await writeFile(routes, stringify(table))
  return { routes, env }
}

/** Plugins that a test has as objects, by number: the gateway under test imports them by a module that stands for each. */
const HANDED: (ChainPlugin | ProviderPlugin)[] = []

/** Keeps a plugin for `handed`, and returns the source of a module that exports it as a plugin's module does. */
export function handOver(plugin: ChainPlugin | ProviderPlugin): string {
  const number = HANDED.push(plugin) - 1
  return `import { handed } from ${JSON.stringify(import.meta.url)}\nexport default handed(${number})\n`
}

/** The plugin that was handed over under a number. */
export function handed(number: number): ChainPlugin | ProviderPlugin | undefined {
  return HANDED[number]
}

/** A plugin's configuration as a test writes it: what `routes.yaml` would say, with a `Secret` where a credential stands. */
export type PluginConfig = Readonly<Record<string, unknown>>

/** The same configuration with each `Secret` in it replaced. */
export function replaceSecrets(config: unknown, replace: (secret: Secret) => unknown): unknown {
  if (config instanceof Secret) return replace(config)
  if (Array.isArray(config)) return config.map((entry) => replaceSecrets(entry, replace))
  if (typeof config !== 'object' || config === null) return config
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, replaceSecrets(value, replace)]))
}
