import { TimeoutError, withTimeout } from '../async/timeout.ts'
import type { Generation } from '../call/generation.ts'
import type { FilesRead } from '../config/file/files-read.ts'
import { readConfig } from '../config/load.ts'
import { addFrames } from '../config/report.ts'
import { InstanceLeases, type InstancePool } from '../plugins/instances.ts'
import { ConfigError, type Diagnostic, type Position } from '../text/diagnostic.ts'
import { buildGeneration, type GenerationServices } from './build-generation.ts'
import { checkDefaults } from './check-defaults.ts'
import { withCreateErrors } from './create-plugins.ts'

/** What a Generation is loaded from. */
export interface LoadOptions {
  /** Path of routes.yaml. */
  readonly routes: string
  readonly env: NodeJS.ProcessEnv
  readonly services: GenerationServices
  readonly pool: InstancePool
  /** The time limit in milliseconds: a plugin that hangs must not prevent later reloads. */
  readonly loadTimeout: number
}

/**
 * Loads and checks routes.yaml and builds its Generation. Throws a ConfigError. Adds all files that were read to `files`. A Generation
 * that is complete only after the time limit is closed.
 */
export async function loadGeneration(options: LoadOptions, files: FilesRead): Promise<Generation> {
  const instances = new InstanceLeases(options.pool)
  const loading = load(options, files, instances)
  try {
    return await withTimeout(options.loadTimeout, loading)
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    loading.then((generation) => generation.retire()).catch(() => undefined)
    throw new ConfigError([tooSlow(options, instances)])
  }
}

/**
 * Names the plugin whose `create` has not ended. Before that, nobody knows what is late: a module of a plugin that does not end loading, or
 * the work of the load itself, which lets calls run between its steps.
 */
function tooSlow(options: LoadOptions, { creating }: InstanceLeases): Diagnostic {
  const within = `within ${options.loadTimeout / 1000} seconds`
  const message =
    creating === undefined
      ? `this file was not loaded ${within}: a plugin's module waits for something, or this process has too much other work`
      : `${creating.place}: create() did not end ${within}: check what it waits for`
  return { ...startOf(options), ...creating?.at, message, frame: '' }
}

async function load(
  { routes, env, services, pool }: LoadOptions,
  files: FilesRead,
  instances: InstanceLeases,
): Promise<Generation> {
  const { config, ...invalid } = await readConfig(routes, env, files)
  if (config === undefined) throw new ConfigError(await withCreateErrors(invalid, services, pool))
  try {
    const generation = await buildGeneration(config, services, instances)
    const problems = checkDefaults(generation)
    if (problems.length === 0) return generation
    await generation.retire()
    throw new ConfigError(problems)
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(addFrames(error.diagnostics, config.text)) : error
  }
}

/** The position of a problem that belongs to no line: the start of the file. */
export const startOf = ({ routes }: Pick<LoadOptions, 'routes'>): Position => ({ file: routes, line: 1, column: 1 })
