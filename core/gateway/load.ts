import { TimeoutError, withTimeout } from '../async/timeout.ts'
import type { FilesRead } from '../config/file/files-read.ts'
import { loadConfig } from '../config/load.ts'
import { addFrames } from '../config/report.ts'
import type { Generation } from '../http/generation.ts'
import type { InstancePool } from '../plugins/instances.ts'
import { ConfigError, type Position } from '../text/diagnostic.ts'
import { buildGeneration, type GenerationServices } from './build-generation.ts'
import { checkDefaults } from './check-defaults.ts'

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
  const loading = load(options, files)
  try {
    return await withTimeout(options.loadTimeout, loading)
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    loading.then((generation) => generation.retire()).catch(() => undefined)
    const seconds = options.loadTimeout / 1000
    const message = `a plugin was not loaded and created within ${seconds} seconds: check what it waits for`
    throw new ConfigError([{ ...startOf(options), message, frame: '' }])
  }
}

async function load({ routes, env, services, pool }: LoadOptions, files: FilesRead): Promise<Generation> {
  const config = await loadConfig(routes, env, files)
  try {
    const generation = await buildGeneration(config, services, pool)
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
