import { FilesRead } from '../config/file/files-read.ts'
import { loadGeneration } from '../gateway/load.ts'
import { openServices } from '../gateway/services.ts'
import type { Generation } from '../http/generation.ts'
import { createLog } from '../observe/log.ts'
import { InstancePool } from '../plugins/instances.ts'
import { openStore } from '../store/database.ts'
import { ConfigError } from '../text/diagnostic.ts'
import type { CommandIo } from './output.ts'
import { printConfigError } from './validation-report.ts'

const LOAD_TIMEOUT_MS = 30_000

/**
 * Loads routes.yaml and creates its plugins as the gateway does, runs `use` with the Generation, and closes it. Connects to no
 * upstream. Throws a ConfigError.
 */
export async function withGeneration<Result>(
  routes: string,
  env: NodeJS.ProcessEnv,
  use: (generation: Generation) => Result | Promise<Result>,
): Promise<Result> {
  const store = await openStore('sqlite::memory:')
  const log = createLog({ level: 'silent' })
  const services = openServices({ store, log, version: 'inspection', workerThreads: 1 })
  try {
    const options = { routes, env, services, pool: new InstancePool(log), loadTimeout: LOAD_TIMEOUT_MS }
    const generation = await loadGeneration(options, new FilesRead())
    try {
      return await use(generation)
    } finally {
      await generation.retire()
    }
  } finally {
    await services.close()
  }
}

/** Like `withGeneration`, but prints the errors of an invalid routes.yaml and resolves to undefined. */
export async function withValidGeneration<Result>(
  routes: string,
  io: CommandIo,
  use: (generation: Generation) => Result | Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await withGeneration(routes, io.env, use)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    printConfigError(error, routes, io)
    return undefined
  }
}
